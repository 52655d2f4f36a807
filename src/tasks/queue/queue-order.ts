// Pure: tickets, which queued tasks may start, and what the others wait for.
import { z } from 'zod';
import { BridgeError } from '../../base/errors.js';
import { isSameProject } from '../../projects/same-project.js';
import type { LockHolder } from '../../store/project-lock.js';
import { taskIdSchema } from '../task.js';

const MS_PER_MINUTE = 60_000;
export const TICKET_VERSION = 1;

/**
 * `queue/<task_id>.json`: a task that waits to be started. As long as the ticket is there, and no keeper has the task, any
 * process of the user may start it; the task's spec and prompt lie in its folder. It says nothing that changes: where the
 * task is in the queue follows from the other tickets and the locks.
 */
export const ticketSchema = z.object({
  version: z.literal(TICKET_VERSION),
  task_id: taskIdSchema,
  /** Real path of the project, as in the spec. */
  project_path: z.string(),
  /** Grows with each ticket while the queue holds any. */
  number: z.number().int(),
  /** The round in which the task's project is served: each project once a round. */
  turn: z.number().int(),
  queued_at: z.string(),
  /** Those of the server that was asked: the project must still lie in them when the task starts. */
  allowed_roots: z.array(z.string()),
  /** The limit of that server, over all tasks of the user. */
  max_concurrent_tasks: z.number().int().positive(),
});
export type Ticket = z.infer<typeof ticketSchema>;

/** The position of a queued task. `place` counts from 1, in the line of what it waits for. */
export type Standing =
  | { readonly state: 'next' }
  /** A keeper is being started for it, or has it. */
  | { readonly state: 'starting' }
  /** `holder` is the task that has the project, or, while it is free, the queued one that gets it first. */
  | {
      readonly state: 'waits';
      readonly for: 'project';
      readonly place: number;
      readonly holder: ProjectHolder;
    }
  /** As many tasks run as may. */
  | { readonly state: 'waits'; readonly for: 'limit'; readonly place: number; readonly limit: number };

export interface ProjectHolder {
  readonly task_id: string;
  readonly project_path: string;
  /** ISO 8601: held, or queued, since then. */
  readonly since: string;
  readonly isQueued: boolean;
}

export interface Queued {
  readonly ticket: Ticket;
  readonly standing: Standing;
}

/**
 * Every ticket with its standing, in the order in which they are served: a task of each project a round, those of one
 * project in the order in which they came. A task whose project is busy blocks only tasks of that project; so
 * a folder that waits for its parts is not overtaken by them for ever.
 */
export function standings(tickets: readonly Ticket[], held: readonly LockHolder[]): Queued[] {
  const begun = new Set(held.map(({ task_id }) => task_id));
  const before: ProjectHolder[] = held.map(({ task_id, project_path, since }) => ({
    task_id,
    project_path,
    since,
    isQueued: false,
  }));
  let running = held.length;
  let atLimit = 0;
  return [...tickets]
    .sort((a, b) => a.turn - b.turn || a.number - b.number)
    .map((ticket) => {
      if (begun.has(ticket.task_id)) return { ticket, standing: { state: 'starting' } };
      const inTheWay = before.filter((one) => isSameProject(one.project_path, ticket.project_path));
      const { task_id, project_path, queued_at, max_concurrent_tasks: limit } = ticket;
      before.push({ task_id, project_path, since: queued_at, isQueued: true });
      const [holder] = inTheWay;
      if (holder !== undefined) {
        const place = 1 + inTheWay.filter((one) => one.isQueued).length;
        return { ticket, standing: { state: 'waits', for: 'project', place, holder } };
      }
      if (running >= limit) {
        return { ticket, standing: { state: 'waits', for: 'limit', place: ++atLimit, limit } };
      }
      running++;
      return { ticket, standing: { state: 'next' } };
    });
}

/** What a new ticket gets: the next number, and the first round in which its project is not served yet. */
export function nextPlace(
  tickets: readonly Ticket[],
  projectPath: string,
): { readonly number: number; readonly turn: number } {
  const now = Math.min(...tickets.map(({ turn }) => turn));
  const own = tickets.filter((ticket) => ticket.project_path === projectPath).map(({ turn }) => turn + 1);
  return {
    number: 1 + Math.max(0, ...tickets.map(({ number }) => number)),
    turn: tickets.length === 0 ? 1 : Math.max(now, ...own),
  };
}

/** Why the task has not started yet, in a sentence. */
export function standingWords(standing: Standing): string {
  if (standing.state !== 'waits') return 'Queued: it is being started.';
  const place = `Queued, place ${standing.place}`;
  if (standing.for === 'limit') {
    return `${place}: as many tasks run as max_concurrent_tasks allows (${standing.limit}).`;
  }
  const { task_id, project_path, since, isQueued } = standing.holder;
  return isQueued
    ? `${place} in its project: it starts after task ${task_id}, which is queued in ${project_path} before it.`
    : `${place} in its project: it starts after task ${task_id}, which has worked in ${project_path} since ${since}.`;
}

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
    [
      'Start it with on_conflict "queue" to run after that one, or "worktree" to run next to it in a git worktree.',
      { do: 'wait', task: holder.task_id },
      { do: 'message', task: holder.task_id },
      { do: 'end', task: holder.task_id },
    ],
  );
}
