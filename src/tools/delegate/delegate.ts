import { z } from 'zod';
import { headAndTail, tailChars } from '../../base/text.js';
import { delegatedStatus, MAX_DELEGATED_CHARS, uuidOfTask } from '../../tasks/delegation.js';
import type { TaskRecord } from '../../tasks/task.js';
import { defineTool, someText, within } from '../define-tool.js';
import { decisionsOutput, taskView } from '../tasks/task-fields.js';

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const idInput = z.string().regex(UUID_V4);

const output = {
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

export const delegateTask = defineTool({
  name: 'DelegateTask',
  title: 'Delegate a task',
  effect: 'destroy',
  openWorld: true,
  description: 'Delegate a task to a background Claude Code instance.',
  input: {
    prompt: someText(MAX_DELEGATED_CHARS).describe('The task for Claude Code to execute'),
    path: z.string().optional().describe('Project; default: the active one'),
  },
  output,
  handle: async ({ prompt, path }, { delegation }) =>
    viewOf(await (await delegation()).delegate(prompt, path)),
});

export const taskStatus = defineTool({
  name: 'TaskStatus',
  title: 'Status of a delegated task',
  effect: 'read',
  description: 'Get status of a delegated task.',
  input: { taskId: idInput.optional().describe('Task ID to check (omit for current task)') },
  output,
  handle: async ({ taskId }, { delegation }) => viewOf(await (await delegation()).task(taskId)),
});

export const cancelTask = defineTool({
  name: 'CancelTask',
  title: 'Cancel a delegated task',
  effect: 'destroy',
  description: 'Cancel a running delegated task.',
  input: {
    taskId: idInput.describe('Task ID to cancel'),
    reason: z.string().max(200).optional().describe('Optional reason for cancellation'),
  },
  output,
  handle: async ({ taskId, reason }, { delegation }) =>
    viewOf(await (await delegation()).cancel(taskId, reason)),
});

export const taskLogs = defineTool({
  name: 'TaskLogs',
  title: 'Logs of a delegated task',
  effect: 'read',
  description: 'Retrieve execution logs from a delegated task, stdout and stderr.',
  input: {
    taskId: idInput.describe('Task ID to get logs for'),
    tail: within(1, 1_000).default(100).describe('Number of recent lines to return'),
  },
  output: { lines: z.array(z.string()), totalBytes: z.int() },
  handle: async ({ taskId, tail }, { delegation }) => (await delegation()).logs(taskId, tail),
});

function viewOf(record: TaskRecord): z.input<z.ZodObject<typeof output>> {
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
        ? tailChars(record.last_output, 2_000)
        : headAndTail(record.final_message, 12_000),
    decisions,
    ...(decisions.length > 0 && {
      hint: `It waits for a decision: answer with respond_to_task (task_id ${record.task_id}), then call TaskStatus.`,
    }),
  };
}
