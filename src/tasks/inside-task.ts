// Pure: what a server does not do that runs inside a task.
import { BridgeError } from '../base/errors.js';
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
