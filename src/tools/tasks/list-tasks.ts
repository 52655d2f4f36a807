import { z } from 'zod';
import { fittingCount } from '../../mcp/output-budget.js';
import { taskStatuses, type TaskRecord } from '../../tasks/task.js';
import type { TaskPage, UnreadableTask } from '../../tasks/task-service.js';
import { defineTool } from '../define-tool.js';
import { taskOutput, taskView, worktreeOf } from './task-fields.js';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
/** One is rare; a hundred would fill the answer and say no more. */
const MAX_UNREADABLE = 10;

const taskLine = z.object({
  ...taskOutput,
  project_path: z.string(),
  worktree: z.string().optional(),
  prompt_summary: z.string(),
  created_at: z.string(),
  elapsed_seconds: z.int(),
});

export const listTasks = defineTool({
  name: 'list_tasks',
  title: 'List tasks',
  toolset: 'tasks',
  effect: 'read',
  searchHint: 'all delegated tasks and their status',
  description: 'Tasks, newest first; with path, of that project.',
  input: {
    status: z.enum(['active', 'finished', ...taskStatuses]).optional(),
    path: z.string().optional(),
    limit: z.int().min(1).max(MAX_LIMIT).optional().describe(`Default: ${DEFAULT_LIMIT}`),
    cursor: z.string().optional(),
  },
  output: {
    cursor: z.string().optional(),
    tasks: z.array(taskLine),
    unreadable: z.array(z.object({ task_id: z.string(), why: z.string() })).optional(),
  },
  handle: async ({ status, limit, cursor, ...given }, services) => {
    const path = given.path === undefined ? undefined : await services.activeProject.absolute(given.path);
    const tasks = await services.tasks();
    const query = { status, path, cursor, limit: limit ?? DEFAULT_LIMIT };
    const page = await tasks.list(query);
    const lines = page.tasks.map(lineOf);
    const fitting = limit === undefined ? fittingCount(lines) : lines.length;
    if (fitting < lines.length) {
      // Asked again for what fits, so that the cursor comes after the last one shown.
      const fewer = await tasks.list({ ...query, limit: fitting });
      return { tasks: fewer.tasks.map(lineOf), ...unreadableOf(fewer), cursor: fewer.cursor };
    }
    return { tasks: lines, ...unreadableOf(page), cursor: page.cursor };
  },
});

/** Tasks of the page's part of the list whose records cannot be read, the first of them. */
function unreadableOf({ unreadable = [] }: TaskPage): { unreadable?: UnreadableTask[] } {
  return unreadable.length === 0 ? {} : { unreadable: unreadable.slice(0, MAX_UNREADABLE) };
}

function lineOf(record: TaskRecord): z.input<typeof taskLine> {
  return {
    ...taskView(record, 0),
    project_path: record.project_path,
    ...worktreeOf(record),
    prompt_summary: record.prompt_summary,
    created_at: record.created_at,
    elapsed_seconds: Math.floor(record.elapsed_seconds),
  };
}
