// Pure: which queued tasks may start, and what the others wait for.
import { isSameProject } from '../../projects/same-project.js';
import type { LockHolder } from '../../store/project-lock.js';
import type { Ticket } from './queue-ticket.js';

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
