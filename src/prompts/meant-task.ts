import { BridgeError } from '../base/errors.js';
import { farIdOf } from '../base/ids.js';
import { hasUnsafe, oneLine } from '../base/text.js';
import { knownTaskId } from '../mcp/known-task-id.js';
import type { TaskQuery } from '../tasks/task-service.js';
import type { TaskRecord } from '../tasks/task.js';
import type { Worktree } from '../tasks/worktree-maker.js';
import type { PromptServices } from './define-prompt.js';

/** Older ones are named by their id, which list_tasks finds. */
const MAX_LOOKED_AT = 100;
const SUMMARY_CHARS = 200;
const REASON_CHARS = 300;
const FOREIGN_CHARS = 500;

/** Which tasks a prompt is about, and the words for them. */
export interface Wanted {
  readonly fits: (record: TaskRecord) => boolean;
  readonly words: string;
}

export const ANY_TASK: Wanted = { fits: () => true, words: 'task yet' };

/** The task that a user means: the named one, or else the newest that fits of this machine. Throws TASK_NOT_FOUND. */
export async function meantTask(
  taskId: string | undefined,
  wanted: Wanted,
  services: PromptServices,
): Promise<TaskRecord> {
  if (taskId !== undefined) return (await services.tasks()).get(knownTaskId(taskId.trim()));
  const [newest] = await fittingTasks(wanted, services, { isHere: true });
  if (newest !== undefined) return newest;
  throw new BridgeError(
    'TASK_NOT_FOUND',
    `There is no ${wanted.words}.`,
    'list_tasks lists all tasks; pass the id of one as task_id.',
  );
}

/** Ids that begin with `prefix`, of the tasks that fit, newest first. */
export async function fittingIds(
  prefix: string,
  wanted: Wanted,
  services: PromptServices,
): Promise<readonly string[]> {
  const records = await fittingTasks(wanted, services);
  return records.map((record) => record.task_id).filter((id) => id.startsWith(prefix));
}

/** Projects of the newest tasks that begin with `prefix`, each once. */
export async function recentProjects(prefix: string, services: PromptServices): Promise<readonly string[]> {
  // The same path is another project on another machine.
  const here = await fittingTasks(ANY_TASK, services, { isHere: true });
  const projects = new Set(here.map(projectOf));
  return [...projects].filter((path) => path.startsWith(prefix));
}

/** Decided by its end time, since the table of statuses is in a file of schemas that a start must not build. */
export function hasEnded(record: TaskRecord): boolean {
  return record.ended_at !== null;
}

/** Where a task's work belongs, also when it was done in a worktree. */
export function projectOf(record: TaskRecord): string {
  return record.worktree?.project_path ?? record.project_path;
}

/** The git worktree that still holds a task's work. */
export function openWorktree({ worktree }: TaskRecord): Worktree | undefined {
  return worktree?.finished === undefined ? worktree : undefined;
}

/** A path or words of the task's record for a sentence to a model: of another machine, they are quoted. */
export function wordsOf({ task_id }: Pick<TaskRecord, 'task_id'>, words: string): string {
  const isForeign = farIdOf(task_id) !== undefined || hasUnsafe(words);
  return isForeign ? JSON.stringify(oneLine(words, FOREIGN_CHARS)) : words;
}

/** The arguments of a tool for a folder of the task: `path /home/ann/app`. */
export function pathArgument(record: TaskRecord, path: string): string {
  const machine = farIdOf(record.task_id)?.machine;
  return `${machine === undefined ? '' : `machine ${machine} and `}path ${wordsOf(record, path)}`;
}

/** One paragraph: the task and its state. It contains no text of the agent. */
export function factsOf(record: TaskRecord): string {
  const asked = JSON.stringify(oneLine(record.prompt_summary, SUMMARY_CHARS));
  const state = hasEnded(record) ? `It ended as ${record.status}` : `It has not ended: ${record.status}`;
  return [
    `Task ${record.task_id} in ${wordsOf(record, projectOf(record))} was asked: ${asked}.`,
    `${state} (${wordsOf(record, oneLine(record.reason, REASON_CHARS))})`,
    ...(record.worktree === undefined ? [] : [worktreeFact(record, record.worktree)]),
  ].join('\n');
}

function worktreeFact(record: TaskRecord, { finished, ...worktree }: Worktree): string {
  const [path, branch, commit] = [worktree.path, worktree.branch, worktree.base_commit].map((words) =>
    wordsOf(record, words),
  );
  if (finished === undefined)
    return `Its work is in the git worktree ${path} on the branch ${branch}, started from ${commit}.`;
  const held =
    finished.result === '' ? 'No work was found in it.' : `The work is ${wordsOf(record, finished.result)}.`;
  return `Its git worktree was ended with ${finished.action} and is gone. ${held}`;
}

async function fittingTasks(
  { fits }: Wanted,
  { tasks }: PromptServices,
  where: Pick<TaskQuery, 'isHere'> = {},
): Promise<readonly TaskRecord[]> {
  return (await (await tasks()).list({ limit: MAX_LOOKED_AT, ...where })).tasks.filter(fits);
}
