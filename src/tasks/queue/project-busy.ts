// Pure: the error for a caller whose project is another task's.
import { BridgeError } from '../../base/errors.js';
import type { ProjectHolder } from './queue-order.js';

const MS_PER_MINUTE = 60_000;

/** Names the task that has the project, since when, and the ways out. `now` is in milliseconds since the epoch. */
export function projectBusy(projectPath: string, holder: ProjectHolder, now: number): BridgeError {
  const minutes = Math.max(0, Math.floor((now - Date.parse(holder.since)) / MS_PER_MINUTE));
  const forHowLong = minutes === 0 ? 'less than a minute' : `${minutes} min`;
  const since = `${holder.isQueued ? 'queued ' : ''}since ${holder.since}, ${forHowLong}`;
  const inside =
    holder.project_path === projectPath ? '' : ` It holds ${holder.project_path}: one contains the other.`;
  return new BridgeError(
    'TASK_ALREADY_RUNNING',
    `A task is already running for project ${projectPath}. Existing task ID: ${holder.task_id} (${since}).${inside}`,
    'Start it with on_conflict "queue" to run after that one, or "worktree" to run next to it in a git worktree; ' +
      'or wait for that one with wait_for_task, send it a message with message_task, or end it with kill_task.',
  );
}
