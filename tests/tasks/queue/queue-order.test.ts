import { describe, expect, it } from 'vitest';
import type { LockHolder } from '../../../src/store/project-lock.js';
import { nextPlace, standings, standingWords, type Standing } from '../../../src/tasks/queue/queue-order.js';
import type { Ticket } from '../../../src/tasks/queue/queue-ticket.js';

const SINCE = '2026-01-01T00:00:00.000Z';

/** Tickets as they come, one after the other. */
function queue(projects: readonly string[], limit = 10): Ticket[] {
  const tickets: Ticket[] = [];
  for (const [index, project_path] of projects.entries()) {
    tickets.push({
      version: 1,
      task_id: `task_${String(index).padStart(20, '0')}`,
      project_path,
      ...nextPlace(tickets, project_path),
      queued_at: SINCE,
      allowed_roots: ['/p'],
      max_concurrent_tasks: limit,
    });
  }
  return tickets;
}

function lock(project_path: string, task_id = `task_of ${project_path}`): LockHolder {
  return { project_path, task_id, owner: { pid: 1, start_time: null, boot_id: null }, since: SINCE };
}

function order(tickets: readonly Ticket[]): string[] {
  return standings(tickets, []).map(({ ticket }) => ticket.project_path);
}

function of(tickets: readonly Ticket[], held: readonly LockHolder[]): Standing[] {
  const all = new Map(standings(tickets, held).map(({ ticket, standing }) => [ticket.task_id, standing]));
  return tickets.map(({ task_id }) => all.get(task_id)).filter((standing) => standing !== undefined);
}

describe('the queue', () => {
  it('serves each project once a round, and those of one project as they came', () => {
    expect(order(queue(['/p/a', '/p/a', '/p/a', '/p/b', '/p/b', '/p/c']))).toEqual([
      '/p/a',
      '/p/b',
      '/p/c',
      '/p/a',
      '/p/b',
      '/p/a',
    ]);
  });

  it('lets a project that comes late into the round that is served now', () => {
    const waiting = queue(['/p/a', '/p/a', '/p/a']).slice(1);
    expect(nextPlace(waiting, '/p/b')).toEqual({ number: 4, turn: 2 });
    expect(nextPlace(waiting, '/p/a')).toEqual({ number: 4, turn: 4 });
    expect(nextPlace([], '/p/a')).toEqual({ number: 1, turn: 1 });
  });

  it('starts one task a project, up to the limit, counting those that run', () => {
    expect(of(queue(['/p/a', '/p/a', '/p/b', '/p/c', '/p/d'], 3), [lock('/q')])).toMatchObject([
      { state: 'next' },
      { state: 'waits', for: 'project', place: 2 },
      { state: 'next' },
      { state: 'waits', for: 'limit', place: 1, limit: 3 },
      { state: 'waits', for: 'limit', place: 2 },
    ]);
  });

  it('keeps nobody waiting for a project that is held but tasks of that project', () => {
    expect(of(queue(['/p/a', '/p/b']), [lock('/p/a', 'task_holder')])).toMatchObject([
      { state: 'waits', for: 'project', place: 1, holder: { task_id: 'task_holder', isQueued: false } },
      { state: 'next' },
    ]);
  });

  it('does not let the folders of a project overtake the project', () => {
    const tickets = queue(['/p/a', '/p/a/one', '/p/a/two']);
    expect(of(tickets, [lock('/p/a/one')])).toMatchObject([
      { for: 'project', place: 1 },
      { for: 'project', place: 2 },
      { for: 'project', place: 2, holder: { task_id: tickets[0]?.task_id, isQueued: true } },
    ]);
  });

  it('knows the task whose keeper is being started', () => {
    const tickets = queue(['/p/a']);
    expect(of(tickets, [lock('/p/a', tickets[0]?.task_id)])).toEqual([{ state: 'starting' }]);
  });

  it('tells in a sentence what a task waits for', () => {
    const [first, second, third] = of(queue(['/p/a', '/p/a', '/p/b'], 1), [lock('/p/a', 'task_x')]).map(
      standingWords,
    );
    expect(first).toBe(
      `Queued, place 1 in its project: it starts after task task_x, which has worked in /p/a since ${SINCE}.`,
    );
    expect(second).toContain('place 2 in its project');
    expect(third).toBe('Queued, place 1: as many tasks run as max_concurrent_tasks allows (1).');
  });
});
