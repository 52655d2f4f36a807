// Pure: what a caller should do next, by the status of its task.
import { openDecisions, type TaskRecord } from './task.js';

/** The first minute: most small tasks end in it. */
const SOON_SECONDS = 60;
const LONG_SECONDS = 300;

/** What was done, and what was only claimed, a caller should not have to read out of a log. */
const RECEIPT = 'get_task_result gives its receipt.';

export function pollingHint(record: TaskRecord): string {
  switch (record.status) {
    case 'pending':
      return record.queue_position === undefined
        ? 'Task is queued. It will start shortly.'
        : `Task is queued, place ${record.queue_position}. It starts automatically; wait_for_task reports when.`;
    case 'starting':
      return 'Task is initializing. Please check back in 10 seconds.';
    case 'running':
      return runningHint(record.elapsed_seconds);
    case 'waiting':
      return waitingHint(record);
    case 'completed':
      return `Task completed successfully. Review the output above. ${RECEIPT}`;
    case 'failed':
      return `${failure(record)}. Review the error output above. ${RECEIPT}`;
    case 'timeout':
      return `Task exceeded the timeout limit and was terminated. ${RECEIPT}`;
    case 'killed':
      return `Task was manually terminated. ${RECEIPT}`;
    case 'error':
      return `An internal error occurred. Check server logs for details. ${RECEIPT}`;
  }
}

/** A program that a signal ended, and a session that could not begin, have no exit code. */
function failure({ exit_code, signal }: TaskRecord): string {
  if (exit_code !== null) return `Task failed with exit code ${exit_code}`;
  return signal === null ? 'Task failed' : `Task failed: a signal ended it (${signal})`;
}

function runningHint(elapsedSeconds: number): string {
  if (elapsedSeconds < SOON_SECONDS) return 'Task is still processing. Please check back in 30 seconds.';
  if (elapsedSeconds < LONG_SECONDS) return 'Task is actively running. Please check back in 1 minute.';
  return 'Task is running a long operation. Please check back in 2-3 minutes.';
}

function isHeldUp({ trouble }: TaskRecord): boolean {
  return trouble !== null && trouble !== undefined;
}

/** A session with keep_open waits without a question: for the next message. */
function waitingHint(record: TaskRecord): string {
  const ids = openDecisions(record).map((decision) => decision.decision_id);
  if (ids.length === 0 && isHeldUp(record))
    return 'Task waits for that to pass and continues automatically; wait_for_task reports when. A message (message_task with interrupt) has it try at once.';
  if (ids.length === 0)
    return 'Task waits for a message. Send one with message_task, or end it with kill_task.';
  const what = ids.length === 1 ? `decision ${ids.join('')}` : `decisions ${ids.join(', ')}`;
  return `Task waits for an answer to ${what}. Answer with respond_to_task.`;
}
