// Pure: the error for a caller whose task has a keeper that does not answer.
import { BridgeError, type Next } from '../base/errors.js';

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
    }: { readonly isStuck?: boolean; readonly hint?: string | Next } = {},
  ) {
    super('TASK_UNREACHABLE', `Task ${taskId} cannot be reached: ${why}.`, hint);
    this.isStuck = isStuck;
  }
}

function lookOrKill(task: string): Next {
  return [
    { do: 'status', task },
    { do: 'end', task },
    'When its keeper is gone, the task is given a truthful end.',
  ];
}
