import { z } from 'zod';
import { finishActionSchema, finishWords } from '../../tasks/worktree-maker.js';
import { defineTool } from '../define-tool.js';
import { knownTaskId, taskIdInput } from './task-fields.js';

export const finishTask = defineTool({
  name: 'finish_task',
  title: 'Finish a task’s worktree',
  toolset: 'tasks',
  effect: 'destroy',
  searchHint: 'merge, apply or discard the worktree of a task',
  description: 'Merge or apply a worktree as `reviewed` (get_task_result), or discard it.',
  input: {
    task_id: taskIdInput,
    action: finishActionSchema,
    reviewed: z.string().optional(),
    message: z.string().min(1).max(5_000).optional().describe('Commit message'),
  },
  output: {
    task_id: z.string(),
    action: finishActionSchema,
    branch: z.string(),
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
    return {
      task_id: record.task_id,
      action,
      branch: record.worktree?.branch ?? '',
      ...(result !== '' && (action === 'merge' ? { commit: result } : { kept_ref: result })),
      message: [finishWords(action, result), ...notes].join(' '),
    };
  },
});
