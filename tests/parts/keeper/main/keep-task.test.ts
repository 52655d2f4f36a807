import { existsSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logger.js';
import { findForTask } from '../../../../src/keeper/agent/recognise-program.js';
import { keepTask } from '../../../../src/keeper/main/keep-task.js';
import { until } from '../../../harness/until.js';
import { sampleSpec } from '../../../tasks/sample-task.js';
import { bundleKeeper, openHost } from '../../../keeper/open-host.js';

const keeper = bundleKeeper();

it('a fault after the start leaves the log of the task where it is', async () => {
  const { prepare, workplace, runtimePath } = await openHost({ keeperEntry: keeper() });
  const spec = await prepare('AGENT: sleeps 1');
  const places = { statePath: workplace.stateDir, env: workplace.env };
  let logFile = '';
  await expect(
    keepTask({
      ...places,
      launch: { spec, ...(await findForTask(spec, places)) },
      runtimePath,
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

it('a program that is not Claude Code gets its prompt on stdin also when the print driver was asked for', async () => {
  const { launch, prepare, stateDir } = await openHost({ keeperEntry: keeper() });
  const settings = { ...sampleSpec().settings, claude_command: ['/bin/cat'] };
  const { task_id: taskId } = await launch(await prepare('Say hello.\n', { driver: 'print', settings }));
  await until('it has ended', async () => {
    const record: unknown = JSON.parse(
      await readFile(join(stateDir, 'tasks', taskId, 'record.json'), 'utf8'),
    );
    expect(record).toMatchObject({ status: 'completed', driver: 'interactive', last_output: 'Say hello.' });
  });
});

it.each([
  ['deleted', (project: string) => rm(project, { recursive: true })],
  ['moved', (project: string) => rename(project, `${project}-moved`)],
])('a project that is %s while its task runs is not made again, and the receipt says so', async (_, take) => {
  const { launch, prepare, project, stateDir } = await openHost({ keeperEntry: keeper() });
  const { task_id: taskId, log_file: log } = await launch(await prepare('AGENT: sleeps 3'));
  await until('it works', async () => expect(await readFile(log, 'utf8')).toContain('sleeping'));
  await take(project);
  const read = async (name: string): Promise<unknown> =>
    JSON.parse(await readFile(join(stateDir, 'tasks', taskId, name), 'utf8'));
  await until('it has ended', async () => {
    const storage: unknown = expect.stringMatching(/^the disk failed from .* to the end of the task/);
    expect(await read('record.json')).toMatchObject({ status: 'completed', exit_code: 0, storage });
    const notes: unknown = expect.arrayContaining([`The folder ${project} is no longer there.`]);
    expect(await read('receipt.json')).toMatchObject({ complete: true, notes });
  });
  expect(existsSync(project)).toBe(false);
});
