// Pure: which queued tasks may start, and what the others wait for.
import { BridgeError } from '../../base/errors.js';
import { oneLine } from '../../base/text.js';
import { isSameProject } from '../../projects/worktree-path.js';
import type { LockHolder } from '../../store/project-lock.js';
import type { Decision, TaskRecord } from '../task.js';

const MS_PER_MINUTE = 60_000;
const ASKED_CHARS = 200;

/** The position of a queued task. `place` counts from 1, in the line of what it waits for. */
export type Standing =
  | { readonly state: 'next' }
  /** A keeper is being started for it, or has it. */
  | { readonly state: 'starting' }
  /** `holder` has the project, or gets it first; without one, as many tasks run as `limit` lets. */
  | { readonly state: 'waits'; readonly place: number; readonly holder: ProjectHolder }
  | { readonly state: 'waits'; readonly place: number; readonly limit: number };

export interface ProjectHolder {
  readonly task_id: string;
  readonly project_path: string;
  /** ISO 8601: held, or queued, since then. */
  readonly since: string;
  readonly isQueued: boolean;
}

/**
 * The standing of each task that waits, by its id. `waiting` are their records in the order in which they came, which is the order in
 * which they start. A task whose project is busy blocks only tasks of that project; so a folder that waits for its parts is not
 * overtaken by them for ever.
 */
export function standings(
  waiting: readonly TaskRecord[],
  held: readonly LockHolder[],
): Map<string, Standing> {
  const begun = new Set(held.map(({ task_id }) => task_id));
  const before: ProjectHolder[] = held.map((lock) => ({ ...lock, isQueued: false }));
  let running = held.length;
  let atLimit = 0;
  const standingOf = (record: TaskRecord): Standing => {
    const { task_id, project_path, created_at: since, queue_limit: limit = 1 } = record;
    if (begun.has(task_id)) return { state: 'starting' };
    const inTheWay = before.filter((one) => isSameProject(one.project_path, project_path));
    before.push({ task_id, project_path, since, isQueued: true });
    const [holder] = inTheWay;
    const place = 1 + inTheWay.filter((one) => one.isQueued).length;
    if (holder !== undefined) return { state: 'waits', place, holder };
    if (running >= limit) return { state: 'waits', place: ++atLimit, limit };
    running++;
    return { state: 'next' };
  };
  return new Map(waiting.map((record) => [record.task_id, standingOf(record)]));
}

/** The record of a queued task with its place in words and as a number. */
export function asQueued(record: TaskRecord, standing: Standing): TaskRecord {
  const reason = standingWords(standing);
  return { ...record, reason, ...(standing.state === 'waits' && { queue_position: standing.place }) };
}

/** Why the task has not started yet, in a sentence. */
function standingWords(standing: Standing): string {
  if (standing.state !== 'waits') return 'Queued: it is being started.';
  const place = `Queued, place ${standing.place}`;
  if ('limit' in standing)
    return `${place}: as many tasks run as max_concurrent_tasks allows (${standing.limit}).`;
  const { task_id, project_path, since, isQueued } = standing.holder;
  return isQueued
    ? `${place} in its project: it starts after task ${task_id}, which is queued in ${project_path} before it.`
    : `${place} in its project: it starts after task ${task_id}, which has worked in ${project_path} since ${since}.`;
}

/** Names the task that has the project, since when, what it asks, and the ways out. `now` is in milliseconds since the epoch. */
export function projectBusy(
  projectPath: string,
  holder: ProjectHolder,
  now: number,
  [open]: readonly Decision[] = [],
): BridgeError {
  const minutes = Math.max(0, Math.floor((now - Date.parse(holder.since)) / MS_PER_MINUTE));
  const forHowLong = minutes === 0 ? 'less than a minute' : `${minutes} min`;
  const since = `${holder.isQueued ? 'queued ' : ''}since ${holder.since}, ${forHowLong}`;
  const inside =
    holder.project_path === projectPath ? '' : ` It holds ${holder.project_path}: one contains the other.`;
  const asks =
    open === undefined
      ? ''
      : ` It waits for an answer to ${open.decision_id}: ${oneLine(open.summary, ASKED_CHARS)}.`;
  return new BridgeError(
    'TASK_ALREADY_RUNNING',
    `A task is already running for project ${projectPath}. Existing task ID: ${holder.task_id} (${since}).${inside}${asks}`,
    [
      ...(open === undefined ? [] : [{ do: 'answer', task: holder.task_id } as const]),
      'Start it with on_conflict "queue" to run after that one, or "worktree" to run next to it in a git worktree.',
      { do: 'wait', task: holder.task_id },
      { do: 'message', task: holder.task_id },
      { do: 'end', task: holder.task_id },
    ],
  );
}
