import { z } from 'zod';
import { briefSchema, checksSchema, MAX_ROUNDS } from '../../checks/brief.js';
import { ruleRowSchema } from '../../config/rule-setting.js';
import { knownTaskId } from '../../mcp/known-task-id.js';
import { UNLISTED } from '../../mcp/schema.js';
import { worktreeWords } from '../../tasks/polling-hint.js';
import { conflictWays, isolations, taskTimeoutSeconds } from '../../tasks/task-service.js';
import { driverNameSchema, isFinal, permissionModeSchema, type TaskRecord } from '../../tasks/task.js';
import { WaitCursor } from '../../tasks/watch/task-waiter.js';
import { finishActionSchema, finishWords } from '../../tasks/worktree-maker.js';
import { defineTool, requestIdInput, textWithin, within } from '../define-tool.js';
import { taskOutput, taskView } from './task-fields.js';

/** As many as the settings take. */
const MAX_RULES = 100;
const BY_TOOL = 'Terminated by kill_task';

/** From a bridge on another machine, whose rows and modes hold, too. They only narrow. */
const limitsInput = z
  .strictObject({
    rules: z
      .array(ruleRowSchema.refine(({ verdict }) => verdict !== 'allow', 'a rule that denies or asks'))
      .max(MAX_RULES)
      .optional(),
    modes: z.array(permissionModeSchema).optional(),
  })
  .optional()
  .meta({ [UNLISTED]: true });

export const startTask = defineTool({
  name: 'start_task',
  title: 'Start a task',
  effect: 'destroy',
  openWorld: true,
  searchHint: 'delegate work to Claude Code; run an agent or subagent in a terminal',
  alwaysLoad: true,
  description: 'Start a Claude Code task in a project.',
  aliases: { mode: 'permission_mode' },
  input: {
    prompt: z.string(),
    path: z.string().optional().describe('Default: active project'),
    timeout_seconds: within(taskTimeoutSeconds.min, taskTimeoutSeconds.max)
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
    on_conflict: z.enum(conflictWays).optional().describe('If the project is taken (default: error)'),
    continue_from: z.string().optional().describe('Task or response; gives path'),
    isolation: z.enum(isolations).optional(),
    max_cost_usd: z.number().min(0.01).optional(),
    max_tokens: z.int().min(1).optional(),
    // Their fields are said in words, which take a third of the bytes.
    brief: z.looseObject({}).pipe(briefSchema).optional().describe('goal?, decided?, constraints?, files?'),
    checks: z.array(z.unknown()).pipe(checksSchema).optional().describe('{name, command}: run when done'),
    limits: limitsInput,
    until_met: within(0, MAX_ROUNDS).optional().describe('Times to send unmet ones back'),
    request_id: requestIdInput,
  },
  output: { ...taskOutput, cursor: z.string(), message: z.string() },
  handle: async (args, services, { signal, follower }) => {
    const tasks = await services.tasks();
    const { path: given, continueFrom } = args;
    const path =
      given === undefined && continueFrom !== undefined
        ? undefined
        : await services.activeProject.absolute(given);
    const record = await tasks.start({ ...args, path, signal });
    if (!isFinal(record.status)) follower?.follow(record.task_id);
    return { ...taskView(record), cursor: WaitCursor.of([record]), message: startedWords(record) };
  },
});

function startedWords({ status, reason, worktree, notes = [] }: TaskRecord): string {
  if (status === 'pending')
    return `${reason} It starts automatically: follow it with wait_for_task, or remove it from the queue with kill_task.`;
  const started =
    'Task started. Claude Code is processing your request. Call wait_for_task with the cursor to follow it.';
  if (worktree === undefined) return [started, ...notes].join(' ');
  return [
    started,
    `It works in a git worktree, ${worktree.path}, on the branch ${worktree.branch}. After it has ended, check the work there, then call`,
    'finish_task with merge, apply (as uncommitted changes) or discard.',
    ...worktree.notes,
    ...notes,
  ].join(' ');
}

export const killTask = defineTool({
  name: 'kill_task',
  title: 'Kill a task',
  effect: 'destroy',
  searchHint: 'stop, cancel or abort a delegated task',
  description: 'End a running task and all it started.',
  input: { task_id: z.string(), reason: textWithin(0, 500).optional() },
  output: { ...taskOutput, message: z.string() },
  handle: async ({ taskId, reason = '' }, { tasks }) => {
    const why = reason.trim() === '' ? `${BY_TOOL}.` : `${BY_TOOL}: ${reason}`;
    const record = await (await tasks()).kill(knownTaskId(taskId), why);
    const message =
      record.status === 'killed'
        ? 'Task terminated successfully.'
        : // The first cause wins: the task had already ended when the kill came.
          `Task had already ended as ${record.status}: ${record.reason}`;
    return { ...taskView(record), message: `${message}${worktreeWords(record)}` };
  },
});

export const finishTask = defineTool({
  name: 'finish_task',
  title: 'Finish a task’s work',
  effect: 'destroy',
  searchHint: 'merge, apply, discard or undo what a task did',
  description:
    'Merge or apply a worktree as `reviewed` (get_task_result), discard it, or undo work in a shared folder.',
  aliases: { how: 'action' },
  input: {
    task_id: z.string(),
    action: finishActionSchema,
    reviewed: z.string().optional(),
    message: textWithin(1, 5_000).optional().describe('Commit message'),
    anyway: z.boolean().optional(),
    request_id: requestIdInput,
  },
  output: {
    task_id: z.string(),
    action: finishActionSchema,
    branch: z.string().optional(),
    commit: z.string().optional(),
    kept_ref: z.string().optional(),
    message: z.string(),
  },
  handle: async ({ taskId, ...asked }, { finisher }, { signal }) => {
    const query = { taskId: knownTaskId(taskId), ...asked, signal };
    const { record, notes } = await (await finisher()).finish(query);
    const { action } = asked;
    if (action === 'undo') return { taskId, action, message: notes.join('\n') };
    const { branch = '', finished } = record.worktree ?? {};
    const result = finished?.result ?? '';
    return {
      taskId,
      action,
      branch,
      ...(result !== '' && (action === 'merge' ? { commit: result } : { keptRef: result })),
      message: [finishWords(action, result), ...notes].join('\n'),
    };
  },
});
