import { z } from 'zod';
import { finishActionSchema, finishWords } from '../../tasks/worktree-maker.js';
import { defineTool } from '../define-tool.js';
import { knownTaskId } from '../../mcp/known-task-id.js';
import { taskIdInput } from './task-fields.js';

export const finishTask = defineTool({
  name: 'finish_task',
  title: 'Finish a task’s work',
  toolset: 'tasks',
  effect: 'destroy',
  searchHint: 'merge, apply, discard or undo what a task did',
  description:
    'Merge or apply a worktree as `reviewed` (get_task_result), discard it, or undo what changed in a shared folder.',
  aliases: { how: 'action' },
  input: {
    task_id: taskIdInput,
    action: finishActionSchema,
    reviewed: z.string().optional(),
    message: z.string().min(1).max(5_000).optional().describe('Commit message'),
  },
  output: {
    task_id: z.string(),
    action: finishActionSchema,
    branch: z.string().optional(),
    commit: z.string().optional(),
    kept_ref: z.string().optional(),
    message: z.string(),
  },
  handle: async ({ task_id, action, reviewed, message }, services, { signal }) => {
    const finisher = await services.finisher();
    const { record, notes } = await finisher.finish({
      taskId: knownTaskId(task_id),
      action,
      reviewed,
      message,
      signal,
    });
    const result = record.worktree?.finished?.result ?? '';
    if (action === 'undo') return { task_id: record.task_id, action, message: notes.join(' ') };
    return {
      task_id: record.task_id,
      action,
      branch: record.worktree?.branch ?? '',
      ...(result !== '' && (action === 'merge' ? { commit: result } : { kept_ref: result })),
      message: [finishWords(action, result), ...notes].join(' '),
    };
  },
});
