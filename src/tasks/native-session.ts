import { BridgeError } from '../base/errors.js';
import { isNative, type TaskRecord } from './task.js';

/** The summary of the prompt of a session whose first prompt was not seen. */
export const NO_PROMPT = 'A session that a person started.';

/** What is not done to a session that a person started, as in "cannot be ended". */
export type NotDone = 'ended' | 'sent a message' | 'interrupted' | 'shown as a screen';

/** Throws NATIVE_SESSION for a session that a person started. */
export function requireNotNative(record: TaskRecord, what: NotDone): void {
  if (isNative(record)) throw nativeSession(record.task_id, what);
}

const ANSWERED = 'Its requests can be answered';

/** What can be done instead. */
function insteadOf(what: NotDone): string {
  switch (what) {
    case 'sent a message':
      return `The setting native_messages of its person allows that. ${ANSWERED}.`;
    case 'shown as a screen':
      return `The view log has its turns and tools. In a terminal, \`claude logs <id>\` prints what a session of \`claude --bg\` drew lately, and \`claude attach <id>\` opens it. ${ANSWERED}.`;
    case 'ended':
    case 'interrupted':
      return `${ANSWERED}; everything else is up to its person.`;
  }
}

/** The refusal to act on a session that a person started. */
export function nativeSession(taskId: string, what: NotDone): BridgeError {
  return new BridgeError(
    'NATIVE_SESSION',
    `${taskId} is a session that a person started, so it cannot be ${what} by the bridge.`,
    insteadOf(what),
  );
}
