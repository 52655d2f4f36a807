import { z } from 'zod';
import { oneLine } from '../../base/text.js';
import { metWords } from '../../checks/result.js';
import { knownTaskId } from '../../mcp/known-task-id.js';
import { fittingCount, fittingPage, REPLY_BUDGET_BYTES } from '../../mcp/answers.js';
import { pollingHint } from '../../tasks/polling-hint.js';
import { outputViews, type TaskPage, type UnreadableTask } from '../../tasks/task-service.js';
import { isFinal, taskStatuses, type TaskRecord } from '../../tasks/task.js';
import { made } from '../../mcp/tool.js';
import { defineTool, within } from '../define-tool.js';
import {
  cutHint,
  lastOutputOf,
  progressOf,
  taskOutput,
  taskView,
  troubleOutput,
  troubleView,
  worktreeOf,
} from './task-fields.js';

const DEFAULT_LIMIT = 20;
/** One is rare; a hundred would fill the answer and say no more. */
const MAX_UNREADABLE = 10;
/** Enough to see what a task touched; the record behind `tasks://<task_id>` names all. */
const MAX_FILES = 50;
const MIN_OUTPUT_BYTES = 256;
const MAX_OUTPUT_BYTES = 262_144;

export const listTasks = defineTool({
  name: 'list_tasks',
  title: 'List tasks',
  effect: 'read',
  searchHint: 'all delegated tasks and their status',
  description: 'Tasks, newest first; with path, of that project.',
  input: {
    status: z.enum(['active', 'finished', ...taskStatuses]).optional(),
    path: z.string().optional(),
    limit: within(1, 100).optional().describe(`Default: ${DEFAULT_LIMIT}`),
    cursor: z.string().optional(),
  },
  output: {
    cursor: z.string().optional(),
    tasks: z.array(made<ReturnType<typeof lineOf>>()),
    unreadable: z.array(made<UnreadableTask>()).optional(),
    note: z.string().optional(),
  },
  handle: async ({ limit, path: given, ...asked }, services) => {
    const path = given === undefined ? undefined : await services.activeProject.absolute(given);
    const tasks = await services.tasks();
    const query = { ...asked, path, limit: limit ?? DEFAULT_LIMIT };
    const page = pageView(await tasks.list(query));
    const fitting = limit === undefined ? fittingCount(page.tasks) : page.tasks.length;
    if (fitting === page.tasks.length) return page;
    // Asked again for what fits, so that the cursor comes after the last one shown.
    return pageView(await tasks.list({ ...query, limit: fitting }));
  },
});

function pageView({ tasks, unreadable = [], foreign, notes = [], cursor }: TaskPage) {
  const words = foreign === undefined ? notes : [foreign.message, foreign.hint, ...notes];
  return {
    tasks: tasks.map(lineOf),
    ...(words.length > 0 && { note: words.join(' ') }),
    ...(unreadable.length > 0 && { unreadable: unreadable.slice(0, MAX_UNREADABLE) }),
    cursor,
  };
}

function lineOf(record: TaskRecord) {
  const { project_path, prompt_summary, created_at, checked, line } = record;
  const { elapsed_seconds } = progressOf(record);
  const facts = { prompt_summary, created_at, elapsed_seconds, checks: checked && metWords(checked) };
  const when = line === undefined ? {} : { line };
  return { ...taskView(record, 0), ...when, project_path, ...worktreeOf(record), ...facts };
}

export const getTaskStatus = defineTool({
  name: 'get_task_status',
  title: 'Get task status',
  effect: 'read',
  description: 'Status of a task, its open decisions, and what to do next.',
  input: { task_id: z.string() },
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
    trouble: troubleOutput.optional(),
    hint: z.string(),
  },
  handle: async ({ taskId }, { tasks }) => {
    const record = await (await tasks()).get(knownTaskId(taskId));
    const view = taskView(record);
    const { project_path, exit_code, files_changed, storage } = record;
    const disk = storage === null ? '' : `The disk of this task's files: ${oneLine(storage, 400)}. `;
    return {
      ...view,
      ...progressOf(record),
      project_path,
      ...worktreeOf(record),
      exit_code,
      files_changed: files_changed.slice(0, MAX_FILES),
      last_output: lastOutputOf(record),
      ...troubleView(record),
      hint: `${disk}${pollingHint(record)}${cutHint(view)}`,
    };
  },
});

export const getTaskOutput = defineTool({
  name: 'get_task_output',
  title: 'Get task output',
  effect: 'read',
  searchHint: 'log, screen or events of a delegated task',
  description:
    'Output of a task. log: readable text; screen: the terminal now; events: JSON lines. Without a cursor: the newest part.',
  maxResultChars: MAX_OUTPUT_BYTES,
  input: {
    task_id: z.string(),
    view: z.enum(outputViews),
    cursor: z.string().optional(),
    max_bytes: within(MIN_OUTPUT_BYTES, MAX_OUTPUT_BYTES).optional(),
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
  handle: async ({ taskId: given, maxBytes: asked = REPLY_BUDGET_BYTES, ...query }, services) => {
    const tasks = await services.tasks();
    const taskId = knownTaskId(given);
    const { task, totalBytes, ...page } = await fittingPage({
      maxBytes: asked,
      minBytes: MIN_OUTPUT_BYTES,
      read: (maxBytes) => tasks.output({ taskId, ...query, maxBytes }),
      text: ({ text }) => text,
    });
    const { view } = query;
    const isEmptyScreen = view === 'screen' && page.text === '';
    return {
      ...taskView(task),
      view,
      total_bytes: totalBytes,
      ...page,
      ...(isEmptyScreen && { hint: emptyHint(task) }),
    };
  },
});

function emptyHint({ status }: TaskRecord): string {
  return isFinal(status)
    ? 'The task has ended and left no last screen. The view "log" has what it did.'
    : 'The screen is empty now. The view "log" has what the task did so far.';
}
