import { z } from 'zod';
import { REPLY_BUDGET_BYTES } from '../../mcp/output-budget.js';
import { readFitting } from '../../mcp/output-budget.js';
import { outputViews } from '../../tasks/task-service.js';
import { isFinal, type TaskRecord } from '../../tasks/task.js';
import { defineTool } from '../define-tool.js';
import { knownTaskId } from '../../mcp/known-task-id.js';
import { taskIdInput, taskOutput, taskView } from './task-fields.js';

const MIN_OUTPUT_BYTES = 256;
const MAX_OUTPUT_BYTES = 262_144;

export const getTaskOutput = defineTool({
  name: 'get_task_output',
  title: 'Get task output',
  toolset: 'tasks',
  effect: 'read',
  searchHint: 'log, screen or events of a delegated task',
  description:
    'Output of a task. log: readable text; screen: the terminal now; events: JSON lines. Without a cursor: the newest part.',
  maxResultChars: MAX_OUTPUT_BYTES,
  input: {
    task_id: taskIdInput,
    view: z.enum(outputViews),
    cursor: z.string().optional(),
    max_bytes: z.int().min(MIN_OUTPUT_BYTES).max(MAX_OUTPUT_BYTES).optional(),
  },
  output: {
    ...taskOutput,
    view: z.string(),
    cursor: z.string(),
    more: z.boolean(),
    total_bytes: z.int().optional(),
    text: z.string(),
    hint: z.string().optional(),
  },
  handle: async ({ task_id, view, cursor, max_bytes }, services) => {
    const tasks = await services.tasks();
    const taskId = knownTaskId(task_id);
    const page = await readFitting(
      { maxBytes: max_bytes ?? REPLY_BUDGET_BYTES, minBytes: MIN_OUTPUT_BYTES },
      (maxBytes) => tasks.output({ taskId, view, cursor, maxBytes }),
      ({ text }) => text,
    );
    return {
      ...taskView(page.task),
      view,
      cursor: page.cursor,
      more: page.more,
      total_bytes: page.totalBytes,
      text: page.text,
      ...(view === 'screen' && page.text === '' && { hint: emptyHint(page.task) }),
    };
  },
});

function emptyHint({ status }: TaskRecord): string {
  return isFinal(status)
    ? 'The task has ended and left no last screen. The view "log" has what it did.'
    : 'The screen is empty now. The view "log" has what the task did so far.';
}
