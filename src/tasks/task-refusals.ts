// Pure: what is not done to a task, and not by whom.
import { BridgeError, type Next } from '../base/errors.js';
import type { TaskRecord } from './task.js';

/** What a server offers that runs inside a task: nothing, or tools that only read. */
export type InsideAllowance = 'off' | 'look';

/**
 * Throws where this process may not do `what` to tasks: INSIDE_TASK inside of a task, NATIVE_SESSION for the session of a person that this
 * process runs in.
 */
export type TaskGuard = (what: string, record?: TaskRecord) => Promise<void>;

/** The error of a call that a server does not carry out inside a task. */
export function insideTaskFault(what: string, hint: string): BridgeError {
  return new BridgeError(
    'INSIDE_TASK',
    `The bridge runs inside one of its own tasks here, and does not ${what}.`,
    hint,
  );
}

/** The summary of the prompt of a session whose first prompt was not seen. */
export const NO_PROMPT = 'A session that a person started.';
const ANSWERED = 'Its requests can be answered';

/** What is not done to a session that a person started, as in "cannot be ended", and what can be done instead. */
const instead = {
  'sent a message': `The setting native_messages of its person allows that. ${ANSWERED}.`,
  'shown as a screen': `The view log has its turns and tools. In a terminal, \`claude logs <id>\` prints what a session of \`claude --bg\` drew lately, and \`claude attach <id>\` opens it. ${ANSWERED}.`,
  ended: `${ANSWERED}; everything else is up to its person.`,
  interrupted: `${ANSWERED}; everything else is up to its person.`,
} as const;

/** The refusal to act on a session that a person started. */
export function nativeSession(taskId: string, what: keyof typeof instead): BridgeError {
  return new BridgeError(
    'NATIVE_SESSION',
    `${taskId} is a session that a person started, so it cannot be ${what} by the bridge.`,
    instead[what],
  );
}

/** Throws NATIVE_SESSION for a session that a person started. */
export function requireNotNative(record: TaskRecord, what: keyof typeof instead): void {
  if (record.driver === 'native') throw nativeSession(record.task_id, what);
}

/** TASK_UNREACHABLE: the task runs, as far as is known, and its keeper does not answer. */
export class TaskUnreachable extends BridgeError {
  /** The keeper takes no connection, or says nothing on it; else it may be at work. */
  readonly isStuck: boolean;

  /** `why` completes "cannot be reached: …". `endByHand`: the pid of a keeper that only its person can end. */
  constructor(
    task: string,
    why: string,
    { isStuck = false, endByHand }: { readonly isStuck?: boolean; readonly endByHand?: number } = {},
  ) {
    const next: string | Next =
      endByHand === undefined
        ? [
            { do: 'status', task },
            { do: 'end', task },
            'When its keeper is gone, the task is given a truthful end.',
          ]
        : `End process ${endByHand} by hand if it is one of yours; then the task gets its end when its status is read.`;
    super('TASK_UNREACHABLE', `Task ${task} cannot be reached: ${why}.`, next);
    this.isStuck = isStuck;
  }
}
