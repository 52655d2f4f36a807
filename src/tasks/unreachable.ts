// Pure: what a caller is told whose task has a keeper that does not answer.
import { BridgeError } from '../base/errors.js';

/** `why` completes "cannot be reached: …". */
export function unreachable(taskId: string, why: string): BridgeError {
  return new BridgeError(
    'TASK_UNREACHABLE',
    `Task ${taskId} cannot be reached: ${why}.`,
    'Call get_task_status: when its keeper is gone, the task is given a truthful end.',
  );
}
