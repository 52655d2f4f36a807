import { z } from 'zod';
import { oneLine } from '../../base/text.js';
import { pollingHint } from '../../tasks/polling-hint.js';
import type { TaskRecord } from '../../tasks/task.js';
import { defineTool } from '../define-tool.js';
import { knownTaskId } from '../../mcp/known-task-id.js';
import { cutHint, lastOutputOf, taskIdInput, taskOutput, taskView, worktreeOf } from './task-fields.js';

/** Enough to see what a task touched; the record behind `tasks://<task_id>` names all. */
const MAX_FILES = 50;
const MAX_STORAGE_CHARS = 400;

export const getTaskStatus = defineTool({
  name: 'get_task_status',
  title: 'Get task status',
  toolset: 'tasks',
  effect: 'read',
  description: 'Status of a task, its open decisions, and what to do next.',
  input: { task_id: taskIdInput },
  output: {
    ...taskOutput,
    reason: z.string(),
    activity: z.string(),
    project_path: z.string(),
    worktree: z.string().optional(),
    elapsed_seconds: z.int(),
    exit_code: z.int().nullable(),
    files_changed: z.array(z.string()),
    last_output: z.string(),
    trouble: z.object({ kind: z.string(), since: z.string(), resumes_at: z.string().optional() }).optional(),
    hint: z.string(),
  },
  handle: async ({ task_id }, services) => {
    const tasks = await services.tasks();
    const record = await tasks.get(knownTaskId(task_id));
    const view = taskView(record);
    return {
      ...view,
      reason: record.reason,
      activity: record.activity,
      project_path: record.project_path,
      ...worktreeOf(record),
      elapsed_seconds: Math.floor(record.elapsed_seconds),
      exit_code: record.exit_code,
      files_changed: record.files_changed.slice(0, MAX_FILES),
      last_output: lastOutputOf(record),
      ...troubleView(record),
      hint: `${storageWords(record)}${pollingHint(record)}${cutHint(view)}`,
    };
  },
});

function troubleView({ trouble }: TaskRecord): {
  trouble?: { kind: string; since: string; resumes_at?: string };
} {
  if (trouble === null || trouble === undefined) return {};
  const { kind, since, resumes_at } = trouble;
  return { trouble: { kind, since, ...(resumes_at !== null && { resumes_at }) } };
}

/** A disk error or lost data is reported before what to do next. */
function storageWords({ storage }: TaskRecord): string {
  return storage === null ? '' : `The disk of this task's files: ${oneLine(storage, MAX_STORAGE_CHARS)}. `;
}
