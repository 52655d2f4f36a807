import { systemClock } from '../../base/system-clock.js';
import type { Logger } from '../../base/logger.js';
import type { EndMarked } from '../../os/choose-processes.js';
import { killTree } from '../../pty/kill-ladder.js';
import { ProjectLocks } from '../../store/project-lock.js';
import { RuntimeDir } from '../../store/runtime-dir.js';
import { StateDir } from '../../store/state-dir.js';
import { TaskQueue } from '../../tasks/queue/task-queue.js';
import { KeeperHost } from '../host/keeper-host.js';
import type { KeeperProgram } from '../host/launch-keeper.js';

/** Time between SIGTERM and SIGKILL for processes of a dead keeper. */
const LEFTOVER_GRACE_MS = 1_000;

/** Starts what waits for the project of a task that has ended, so that the queue goes on without a server. */
export async function continueQueue(options: KeeperProgram & { readonly logger: Logger }): Promise<void> {
  const clock = systemClock;
  const { logger } = options;
  const stateDir = new StateDir(options.statePath);
  const locks = new ProjectLocks(stateDir.lockDir, clock, (corrupt) =>
    logger.error('a lock file could not be read', { ...corrupt }),
  );
  const host = new KeeperHost({ ...options, stateDir, runtimeDir: new RuntimeDir(options.runtimePath) });
  const endMarked: EndMarked = async (mark, startedSince) =>
    (await killTree({ mark, startedSince, clock, graceMs: LEFTOVER_GRACE_MS })).ended.length;
  const queue = new TaskQueue({ stateDir, locks, host, clock, logger, endMarked, staysOn: false });
  try {
    await queue.advance();
  } finally {
    queue.dispose();
  }
}
