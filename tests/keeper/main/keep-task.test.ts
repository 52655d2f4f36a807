import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.js';
import { keepTask } from '../../../src/keeper/main/keep-task.js';
import { bundleKeeper, openHost } from '../open-host.js';

const keeper = bundleKeeper();

it('a fault after the start leaves the log of the task where it is', async () => {
  const { prepare, workplace, runtimePath } = await openHost({ kind: 'in process', keeperEntry: keeper() });
  const { task_id: taskId } = await prepare('AGENT: sleeps 1');
  let logFile = '';
  await expect(
    keepTask({
      taskId,
      statePath: workplace.stateDir,
      runtimePath,
      env: workplace.env,
      logger: silentLogger,
      onReady: ({ log_file }) => {
        logFile = log_file;
        throw new Error('a fault after the start');
      },
      onRun: () => undefined,
    }),
  ).rejects.toThrow('a fault after the start');
  expect(existsSync(logFile)).toBe(true);
});
