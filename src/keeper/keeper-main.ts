import '../base/uncompiled-schemas.js';
import { closeSync, writeSync } from 'node:fs';
import { systemClock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import { createStderrLogger } from '../base/logger.js';
import { readEnvironment } from '../config/read-environment.js';
import { Heartbeat } from '../store/heartbeat.js';
import { RuntimeDir } from '../store/runtime-dir.js';
import type { TaskRun } from '../tasks/task-run.js';
import { continueQueue } from './continue-queue.js';
import { keepTask } from './keep-task.js';
import { errorOf } from './keeper-server.js';
import type { ReadyMessage } from './messages.js';

/** The pipe on which the server that started this process waits for one line. */
const READY_FD = 3;

const [, keeperEntry = '', taskId = '', statePath = '', runtimePath = ''] = process.argv;
const logger = createStderrLogger('info');
let run: TaskRun | undefined;

function tellReady(message: ReadyMessage): void {
  try {
    writeSync(READY_FD, JSON.stringify(message));
    closeSync(READY_FD);
  } catch (fault) {
    // The server died while it waited: the task goes on without it.
    logger.warn('nobody waits for this keeper', { fault: messageOf(fault) });
  }
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => void run?.kill(`The keeper of the task was told to end (${signal}).`));
}
// The terminal of whoever started the server may go: the task stays.
process.on('SIGHUP', () => undefined);
process.on('uncaughtException', (fault) => {
  logger.error('a fault in the keeper', { fault: fault.stack ?? fault.message });
  run?.fail(`The keeper of the task met a fault of its own: ${fault.message}`);
});
process.on('unhandledRejection', (fault) => {
  logger.error('an unhandled fault in the keeper', {
    fault: fault instanceof Error ? (fault.stack ?? fault.message) : String(fault),
  });
  run?.fail(`The keeper of the task met a fault of its own: ${messageOf(fault)}`);
});

let isReady = false;
try {
  const socketPath = new RuntimeDir(runtimePath).socketPath(taskId);
  const heartbeat = await Heartbeat.start({ statePath, clock: systemClock, logger, socketPath });
  process.once('exit', () => heartbeat.dispose());
  await keepTask({
    taskId,
    statePath,
    runtimePath,
    env: readEnvironment(),
    logger,
    onReady: (record) => {
      isReady = true;
      tellReady({ record });
    },
    onRun: (started) => (run = started),
  });
  await continueQueue({
    statePath,
    runtimePath,
    env: readEnvironment(),
    keeperEntry,
    nodeArguments: process.execArgv,
    logger,
  }).catch((fault: unknown) => logger.error('the queue could not go on', { fault: messageOf(fault) }));
  process.exit(0);
} catch (fault) {
  if (isReady) logger.error('the keeper failed', { fault: messageOf(fault) });
  else tellReady({ error: errorOf(fault) });
  process.exit(1);
}
