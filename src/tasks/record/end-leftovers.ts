import type { Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import { endBackgroundIn } from '../../claude/background/background-file.js';
import type { EndMarked } from '../../os/choose-processes.js';
import type { StateDir } from '../../store/state-dir.js';
import type { TaskRecord } from '../task.js';

export interface LeftoverParts {
  readonly stateDir: StateDir;
  readonly clock: Clock;
  readonly endMarked: EndMarked;
  readonly logger?: Logger;
}

/**
 * Ends what a task without a keeper left running, and resolves with the number of processes. First its session, if that runs in Claude
 * Code's background service, since it does not carry the mark. Rejects when the system does not list its processes.
 */
export async function endLeftovers(
  { task_id, driver, process_mark, keeper }: TaskRecord,
  { stateDir, clock, endMarked, logger }: LeftoverParts,
): Promise<number> {
  const inBackground =
    driver !== 'background'
      ? 0
      : await endBackgroundIn(stateDir.taskDir(task_id), clock).catch((error: unknown) => {
          logger?.error('a background session could not be ended', { task_id, error: messageOf(error) });
          return 0;
        });
  return inBackground + (await endMarked(process_mark, keeper?.start_time ?? undefined));
}
