// Pure: what a notice says to the model of the caller. Nothing in it was written by the model of the task.
import { basename } from 'node:path';
import { isFinal, openDecisions, type TaskRecord } from '../tasks/task.js';

/** A folder's name is shown only if it is a short word. */
const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/;

export interface CallerNotice {
  readonly taskId: string;
  readonly status: string;
  /** The states that it reports, as `newStates` names them. */
  readonly states: readonly string[];
  readonly text: string;
}

/** The name of the state in which a task has ended. */
export function endState(taskId: string): string {
  return `${taskId}-end`;
}

/** The name of the state in which a decision of a task is open. */
export function askState(taskId: string, decisionId: string): string {
  return `${taskId}-${decisionId}`;
}

/** The states of a task that a caller must know of and that are not in `known`. */
export function newStates(record: TaskRecord, known: ReadonlySet<string>): string[] {
  const { task_id, status } = record;
  const states = isFinal(status)
    ? [endState(task_id)]
    : openDecisions(record).map(({ decision_id }) => askState(task_id, decision_id));
  return states.filter((state) => !known.has(state));
}

/** The notice of these states. */
export function noticeOf(record: TaskRecord, states: readonly string[]): CallerNotice {
  const { task_id: taskId, status } = record;
  const what = isFinal(status) ? `has ended: ${status}` : `is ${status} and needs a decision`;
  return {
    taskId,
    status,
    states,
    text: `claude-code-bridge: ${taskId}${folderWords(record)} ${what}. For more, use get_task_status.`,
  };
}

/** Empty for a folder that the task of another model may have named. */
function folderWords({ parent, worktree, project_path }: TaskRecord): string {
  const name = basename(worktree?.project_path ?? project_path);
  return parent === undefined && PLAIN_NAME.test(name) ? ` in ${name}` : '';
}
