import { z } from 'zod';
import type { ToolCall } from '../../mcp/tool.js';
import type { TaskService } from '../../tasks/task-service.js';
import type { TaskRecord } from '../../tasks/task.js';
import { WaitCursor } from '../../tasks/watch/task-waiter.js';
import { MAX_WAIT_SECONDS, waitForChange } from './wait-for-task.js';
import { lastOutputOf } from './task-fields.js';

/** For tools after which a caller would wait anyway. */
export const waitSecondsInput = z.int().min(0).max(MAX_WAIT_SECONDS).optional().describe('Then wait');

export const waitedOutput = { reason: z.string().optional(), last_output: z.string().optional() };

interface Waited {
  readonly record: TaskRecord;
  readonly cursor: string;
  /** What the answer of a wait has besides. */
  readonly more: { readonly reason?: string; readonly last_output?: string };
}

/** Waits as `wait_for_task` does, unless the client follows the task anyway. */
export async function thenWait(
  record: TaskRecord,
  seconds: number | undefined,
  tasks: TaskService,
  call: ToolCall,
): Promise<Waited> {
  const cursor = WaitCursor.of([record]);
  if (seconds === undefined || call.follower?.follows(record.task_id) === true)
    return { record, cursor, more: {} };
  const outcome = await waitForChange([record.task_id], { cursor, seconds }, tasks, call);
  const after = outcome.tasks[0] ?? record;
  return {
    record: after,
    cursor: outcome.cursor,
    more: { reason: after.reason, last_output: lastOutputOf(after) },
  };
}
