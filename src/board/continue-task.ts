// Pure.
import { BridgeError } from '../base/errors.js';
import { farIdOf } from '../base/ids.js';
import { canContinue } from '../tasks/polling-hint.js';
import { isFinal } from '../tasks/task.js';
import type { TaskService } from '../tasks/task-service.js';

/**
 * Starts a task that follows one that has ended: with its session, or, where that is no longer possible, with the text alone. It
 * waits in the queue while another task works there. Gives its id. Throws INVALID_ARGUMENTS for a task that has not ended,
 * and as the task service.
 */
export async function continueTask(taskId: string, text: string, tasks: TaskService): Promise<string> {
  const record = await tasks.get(taskId);
  if (!isFinal(record.status))
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      'The task has not ended yet.',
      'Send it a message instead, or kill it first.',
    );
  const { model, worktree, permission_mode: permissionMode, project_path } = record;
  const goesOn = canContinue(record);
  const next = await tasks.start({
    prompt: text,
    machine: farIdOf(taskId)?.machine,
    ...(goesOn ? { continueFrom: taskId } : { path: worktree?.project_path ?? project_path }),
    permissionMode,
    onConflict: 'queue',
    ...(model !== null && { model }),
  });
  return next.task_id;
}
