import { z } from 'zod';
import { finishActionSchema, type FinishAction } from '../../tasks/worktree-maker.js';
import { defineTool } from '../define-tool.js';
import { knownTaskId, taskIdInput } from './task-fields.js';

export const finishTask = defineTool({
  name: 'finish_task',
  title: 'Finish a task’s worktree',
  toolset: 'tasks',
  effect: 'destroy',
  searchHint: 'merge, apply or discard the worktree of a task',
  description: 'Finish the worktree of a task: merge its branch, apply it uncommitted, or discard it.',
  input: {
    task_id: taskIdInput,
    action: finishActionSchema,
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
  handle: async ({ task_id, action, message }, services, { signal }) => {
    const finisher = await services.finisher();
    const { record, notes } = await finisher.finish({
      taskId: knownTaskId(task_id),
      action,
      message,
      signal,
    });
    const result = record.worktree?.finished?.result ?? '';
    const isMerge = action === 'merge';
    return {
      task_id: record.task_id,
      action,
      branch: record.worktree?.branch ?? '',
      ...(isMerge && { commit: result }),
      ...(!isMerge && result !== '' && { kept_ref: result }),
      message: [...words(action, result, record.worktree?.base_commit), ...notes].join(' '),
    };
  },
});

function words(action: FinishAction, result: string, base: string | undefined): string[] {
  if (result === '' || result === base) return ['The worktree contained no work and was removed.'];
  const done = {
    merge: 'Merged.',
    apply: 'Applied as uncommitted changes.',
    discard: 'Discarded.',
  }[action];
  const commits =
    action === 'merge' ? [] : [`Its commits remain as ${result}, for git log, show or cherry-pick.`];
  return [done, 'The worktree and its branch were removed.', ...commits];
}
