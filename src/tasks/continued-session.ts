// Pure.
import { BridgeError } from '../base/errors.js';
import { oneLine } from '../base/text/text.js';
import type { TaskSpec } from './task-spec.js';
import { isFinal, isNative, WAITS_FOR_MESSAGE, type TaskRecord } from './task.js';

/** A response is the answer of one task, and its id has the digits of the task's. */
const ORIGIN_PATTERN = /^(?:task|response)_([0-9a-f]{20})$/;
const MAX_SHOWN_CHARS = 60;

/**
 * Where a session begins that goes on with the task or response `origin`: behind all that was said there. `projectPath` is the
 * real path of the new task. Throws INVALID_ARGUMENTS for what is no id, for a task that still runs or a session in a turn, for one that had no session of
 * Claude Code, or that worked in another directory; TASK_NOT_FOUND for an unknown one.
 */
export async function continuedSession(
  origin: string,
  projectPath: string,
  read: (taskId: string) => Promise<TaskRecord | undefined>,
): Promise<NonNullable<TaskSpec['resume']>> {
  const digits = ORIGIN_PATTERN.exec(origin)?.[1];
  const shown = oneLine(origin, MAX_SHOWN_CHARS);
  if (digits === undefined) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `continue_from is '${shown}', which is no id of a task or a response.`,
      'Give an id such as task_0123456789abcdef0123 or response_0123456789abcdef0123.',
    );
  }
  const record = await read(`task_${digits}`);
  if (record === undefined) {
    throw new BridgeError(
      'TASK_NOT_FOUND',
      `continue_from is ${shown}, which is not known, or no longer stored.`,
      'list_tasks shows the tasks there are. Leave continue_from out to start a new session.',
    );
  }
  if (!isFinal(record.status) && !isIdleSession(record)) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `continue_from is ${shown}, which has not ended; its status is ${record.status}: ${record.reason}`,
      isNative(record)
        ? 'Wait until it is idle or has ended, with wait_for_task.'
        : 'Tell it more with message_task, or wait for its end with wait_for_task.',
    );
  }
  if (record.session_id === null) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `continue_from is ${shown}, which had no session of Claude Code; its status is ${record.status}: ${record.reason}`,
      'Leave continue_from out, and say in the prompt what has to be known.',
    );
  }
  if (record.project_path !== projectPath) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `${shown} worked in ${record.project_path}, and path is ${projectPath}: Claude Code keeps sessions by directory.`,
      `Give path ${record.project_path}, or leave continue_from out to start a new session.`,
    );
  }
  // All of the session: a task has one of its own, and that of a person is copied as it is now.
  return { sessionId: record.session_id, messageId: null };
}

/** Between two turns, a session that a person started can be copied. */
function isIdleSession(record: TaskRecord): boolean {
  return isNative(record) && record.reason.endsWith(WAITS_FOR_MESSAGE);
}
