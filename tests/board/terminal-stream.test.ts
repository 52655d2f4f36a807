import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/system-clock.js';
import { createTaskId } from '../../src/base/ids.js';
import { silentLogger } from '../../src/base/logger.js';
import { TerminalStream } from '../../src/board/terminal-stream.js';
import { TerminalWriters } from '../../src/board/terminal-writers.js';
import { KeeperServer } from '../../src/keeper/main/keeper-server.js';
import type { TaskRecord } from '../../src/tasks/task.js';
import { stillTerminal } from '../keeper/terminal/still-terminal.js';
import { createRun } from '../tasks/run-harness.js';
import { TASK_ID } from '../tasks/sample-task.js';

/** A page's terminal of a task whose record is read when `read` is called. */
async function openTerminal(): Promise<{
  terminal: TerminalStream;
  read: (change?: Partial<TaskRecord>) => void;
}> {
  const harness = await createRun();
  await harness.run.start();
  const shown = stillTerminal({ columns: 80, rows: 24 });
  const socketPath = join(tmpdir(), `${createTaskId().slice(-12)}.sock`);
  const server = await KeeperServer.start({
    run: harness.run,
    socketPath,
    clock: systemClock,
    logger: silentLogger,
    terminal: {
      terminal: () => shown,
      journal: { append: () => undefined },
      recording: { typed: () => undefined, resized: () => undefined },
      hold: () => ({ dispose: () => undefined }),
    },
  });
  onTestFinished(() => server.dispose());
  let give: (record: TaskRecord) => void;
  const record = new Promise<TaskRecord>((resolve) => (give = resolve));
  const terminal = new TerminalStream({
    taskId: TASK_ID,
    stream: 1,
    client: 'chrome-1',
    writers: new TerminalWriters(),
    record: () => record,
    sendFrame: () => undefined,
    clock: systemClock,
    logger: silentLogger,
  });
  onTestFinished(() => terminal.dispose());
  return {
    terminal,
    read: (change) => give({ ...harness.run.record, socket_path: socketPath, ...change }),
  };
}

it('a page that asks for the keyboard before the terminal is open gets it when it is', async () => {
  const { terminal, read } = await openTerminal();
  const started = terminal.start();
  const claimed = terminal.claim({ columns: 100, rows: 30 });
  read();
  await Promise.all([started, claimed]);
  expect(terminal.channel.state).toMatchObject({ writer: 'chrome-1', columns: 100, rows: 30, closed: null });
});

it('and gets the reason when it never opens', async () => {
  const { terminal, read } = await openTerminal();
  const started = terminal.start();
  const claimed = terminal.claim({ columns: 100, rows: 30 });
  read({ status: 'completed', reason: 'It is done.' });
  await started;
  await expect(claimed).rejects.toThrow('The task has ended: It is done.');
});
