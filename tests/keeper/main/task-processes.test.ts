import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.js';
import { TaskProcesses } from '../../../src/keeper/main/task-processes.js';
import { MARK_VARIABLE } from '../../../src/os/mark-variable.js';
import { silentLogger } from '../../../src/base/logger.js';

it('names what the agent left behind, and not the shell around the agent, which ends by itself', async () => {
  const mark = 'task-processes-test';
  // The shell is a child of this process, as the one around an agent is a child of its keeper; the other is what was left.
  const shell = spawn('/bin/sh', ['-c', 'tail -f /etc/passwd & wait'], {
    env: { PATH: process.env['PATH'], [MARK_VARIABLE]: mark },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  // What it prints says that it is the program itself by now, and no longer a copy of the shell.
  await once(shell.stdout, 'data');
  const processes = new TaskProcesses({
    mark,
    startedSince: undefined,
    clock: systemClock,
    logger: silentLogger,
  });
  expect(await processes.endLeftovers()).toEqual(['tail']);
});
