// Pure: the error for a caller whose task has a keeper that does not answer.
import { BridgeError } from '../base/errors.js';

/** TASK_UNREACHABLE: the task runs, as far as is known, and its keeper does not answer. */
export class TaskUnreachable extends BridgeError {
  /** The keeper takes no connection, or says nothing on it; else it may be at work. */
  readonly isStuck: boolean;

  /** `why` completes "cannot be reached: …". */
  constructor(
    taskId: string,
    why: string,
    {
      isStuck = false,
      hint = lookOrKill(taskId),
    }: { readonly isStuck?: boolean; readonly hint?: string } = {},
  ) {
    super('TASK_UNREACHABLE', `Task ${taskId} cannot be reached: ${why}.`, hint);
    this.isStuck = isStuck;
  }
}

function lookOrKill(taskId: string): string {
  return `Call get_task_status ${taskId}: when its keeper is gone, the task is given a truthful end. kill_task ${taskId} ends it all the same.`;
}
