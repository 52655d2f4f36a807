import { z } from 'zod';
import { headAndTail, tailChars } from '../../base/text.js';
import { delegatedStatus, uuidOfTask } from '../../tasks/delegation.js';
import type { TaskRecord } from '../../tasks/task.js';
import { decisionsOutput, taskView } from '../tasks/task-fields.js';

const OUTPUT_CHARS = 2_000;
const MESSAGE_CHARS = 12_000;
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export const delegatedIdInput = z.string().regex(UUID_V4);

export const delegatedOutput = {
  taskId: z.string(),
  status: z.string(),
  /** For the tools of the toolset `tasks`, such as respond_to_task. */
  bridgeTaskId: z.string(),
  prompt: z.string(),
  activity: z.string(),
  reason: z.string(),
  startTime: z.string().nullable(),
  endTime: z.string().nullable(),
  elapsedSeconds: z.int(),
  exitCode: z.int().nullable(),
  output: z.string(),
  decisions: decisionsOutput,
  hint: z.string().optional(),
};

export function delegatedView(record: TaskRecord): z.input<z.ZodObject<typeof delegatedOutput>> {
  const { decisions } = taskView(record);
  return {
    taskId: uuidOfTask(record.task_id),
    status: delegatedStatus(record),
    bridgeTaskId: record.task_id,
    prompt: record.prompt_summary,
    activity: record.activity,
    reason: record.reason,
    startTime: record.started_at,
    endTime: record.ended_at,
    elapsedSeconds: Math.floor(record.elapsed_seconds),
    exitCode: record.exit_code,
    output:
      record.final_message === ''
        ? tailChars(record.last_output, OUTPUT_CHARS)
        : headAndTail(record.final_message, MESSAGE_CHARS),
    decisions,
    ...(decisions.length > 0 && {
      hint: `It waits for a decision: answer with respond_to_task (task_id ${record.task_id}), then call TaskStatus.`,
    }),
  };
}
