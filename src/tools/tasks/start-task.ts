import { z } from 'zod';
import { conflictWays, isolations, taskTimeoutSeconds } from '../../tasks/task-service.js';
import { driverNameSchema, isFinal, permissionModeSchema, type TaskRecord } from '../../tasks/task.js';
import { defineTool } from '../define-tool.js';
import { WaitCursor } from '../../tasks/watch/task-waiter.js';
import { cursorOutput, taskOutput, taskView } from './task-fields.js';

export const startTask = defineTool({
  name: 'start_task',
  title: 'Start a task',
  toolset: 'tasks',
  effect: 'destroy',
  openWorld: true,
  searchHint: 'delegate work to Claude Code; run an agent or subagent in a terminal',
  alwaysLoad: true,
  description: 'Start a Claude Code task in a project. Follow it with wait_for_task.',
  aliases: { mode: 'permission_mode' },
  input: {
    prompt: z.string(),
    path: z.string().optional().describe('Default: active project'),
    timeout_seconds: z
      .int()
      .min(taskTimeoutSeconds.min)
      .max(taskTimeoutSeconds.max)
      .optional()
      .describe('Default: 3600'),
    permission_mode: permissionModeSchema
      .optional()
      .describe(
        'auto (default, or as set) checks nothing; cautious asks before commands; sandboxed confines them; claude: its auto mode',
      ),
    model: z.string().optional(),
    driver: driverNameSchema.optional().describe('Default: interactive'),
    keep_open: z.boolean().optional().describe('Stay open for message_task'),
    on_conflict: z.enum(conflictWays).optional().describe('If another task has the project (default: error)'),
    continue_from: z.string().optional().describe('Task or response; gives path'),
    isolation: z.enum(isolations).optional(),
    max_cost_usd: z.number().min(0.01).optional(),
    max_tokens: z.int().min(1).optional(),
  },
  output: { ...taskOutput, cursor: cursorOutput, message: z.string() },
  handle: async (
    {
      timeout_seconds,
      permission_mode,
      keep_open,
      on_conflict,
      continue_from,
      max_cost_usd,
      max_tokens,
      path,
      ...same
    },
    { tasks, activeProject },
    call,
  ) => {
    const record = await (
      await tasks()
    ).start({
      ...same,
      path: path === undefined && continue_from !== undefined ? path : await activeProject.absolute(path),
      timeoutSeconds: timeout_seconds,
      permissionMode: permission_mode,
      keepOpen: keep_open,
      onConflict: on_conflict,
      continueFrom: continue_from,
      maxCostUsd: max_cost_usd,
      maxTokens: max_tokens,
      signal: call.signal,
    });
    if (!isFinal(record.status)) call.follower?.follow(record.task_id);
    return { ...taskView(record), cursor: WaitCursor.of([record]), message: messageOf(record) };
  },
});

function messageOf(record: TaskRecord): string {
  if (record.status === 'pending') {
    return `${record.reason} It starts automatically: follow it with wait_for_task, or remove it from the queue with kill_task.`;
  }
  const started =
    'Task started. Claude Code is processing your request. Call wait_for_task with the cursor to follow it.';
  const { worktree, notes = [] } = record;
  if (worktree === undefined) return [started, ...notes].join(' ');
  return [
    started,
    `It works in a git worktree, ${worktree.path}, on the branch ${worktree.branch}. After it has ended, check the work there, then call`,
    'finish_task with merge, apply (as uncommitted changes) or discard.',
    ...worktree.notes,
    ...notes,
  ].join(' ');
}
