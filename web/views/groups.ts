// Pure.
import { openOf, type BoardState, type TaskCard } from '../../src/board/state.js';

/** What needs a person first comes first. */
const labels = [
  ['waiting', 'Needs you'],
  ['limits', 'Blocked'],
  ['failed', 'Failed'],
  ['running', 'Running'],
  ['ready', 'Ready for a message'],
  ['queued', 'Queued'],
  ['ended', 'Done'],
] as const;
type GroupName = (typeof labels)[number][0];

export interface Group {
  readonly name: GroupName;
  readonly label: string;
  readonly tasks: readonly TaskCard[];
}

/** What the list is narrowed to, and its label. */
export const shownKinds = [
  ['all', 'All'],
  ['waiting', 'Needs you'],
  ['running', 'Running'],
] as const;
export type Shown = (typeof shownKinds)[number][0];

export function isShown(name: GroupName, shown: Shown): boolean {
  return shown === 'all' || shown === name;
}

/** A failure is news for a day; then it is history. */
const NEWS_MS = 24 * 3_600_000;
const FAILED: ReadonlySet<string> = new Set(['failed', 'error', 'timeout']);

/** The tasks that have all words of a search, in their groups; empty groups are left out. */
export function groupsOf(board: BoardState, search: string, nowMs: number): Group[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const waiting = [...new Set(openOf(board.decisions).map(({ task_id }) => task_id))];
  // As their questions stand beside the list.
  const asOpened = (a: TaskCard, b: TaskCard): number =>
    waiting.indexOf(a.task_id) - waiting.indexOf(b.task_id);
  const found = Object.values(board.tasks)
    .filter((task) => words.every((word) => textOf(task).includes(word)))
    .sort(newestFirst)
    .map((task) => ({ task, in: groupOf(task, waiting.includes(task.task_id), nowMs) }));
  return labels
    .map(([name, label]) => ({
      ...{ name, label },
      tasks: found.filter((one) => one.in === name).map(({ task }) => task),
    }))
    .map((group) => (group.name === 'waiting' ? { ...group, tasks: group.tasks.sort(asOpened) } : group))
    .filter(({ tasks }) => tasks.length > 0);
}

function groupOf(task: TaskCard, isAsked: boolean, nowMs: number): GroupName {
  if (isAsked && !task.is_final) return 'waiting';
  if (task.is_final) {
    const isNews = nowMs - Date.parse(task.ended_at ?? task.created_at) < NEWS_MS;
    return FAILED.has(task.status) && isNews ? 'failed' : 'ended';
  }
  if (task.is_held_up) return 'limits';
  if (task.status === 'pending') return 'queued';
  if (task.is_ready) return 'ready';
  // A dialog at its terminal.
  return task.status === 'waiting' ? 'waiting' : 'running';
}

function textOf(task: TaskCard): string {
  const { task_id, project_path, prompt_summary, status, model, branch, activity, last_words } = task;
  return [task_id, project_path, prompt_summary, status, model, branch, activity, last_words]
    .join('\n')
    .toLowerCase();
}

function newestFirst(a: TaskCard, b: TaskCard): number {
  const timeOf = (task: TaskCard): string => task.ended_at ?? task.started_at ?? task.created_at;
  return timeOf(b).localeCompare(timeOf(a)) || a.task_id.localeCompare(b.task_id);
}
