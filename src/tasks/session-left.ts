import type { TaskWait, WaitOutcome } from './task-service.js';
import { isFinal, type TaskRecord } from './task.js';

/** A CLI that has answered leaves within 10 s, or is ended. */
const LEAVE_LIMIT_MS = 15_000;

/** The record when the session that gave an answer has been left, since only then its transcript is whole; any other record as it is. */
export async function sessionLeft(
  record: TaskRecord,
  wait: (query: TaskWait) => Promise<WaitOutcome>,
): Promise<TaskRecord> {
  if (isFinal(record.status) || record.answered !== true) return record;
  const { tasks } = await wait({
    taskIds: [record.task_id],
    timeoutMs: LEAVE_LIMIT_MS,
    signal: AbortSignal.timeout(LEAVE_LIMIT_MS),
  });
  return tasks[0] ?? record;
}
