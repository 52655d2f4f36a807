import { expect, test } from 'vitest';
import { boardOf, type BoardState } from '../../src/board/state.js';
import { cardOf, decisionViewOf } from '../../src/board/task-views.js';
import type { TaskRecord } from '../../src/tasks/task.js';
import { groupsOf } from '../../web/views/groups.js';
import { decision, taskRecord } from '../tools/fake-task-service.js';

const NOW_MS = Date.parse('2026-03-01T12:00:00.000Z');
const id = (number: number): string => `task_${String(number).padStart(20, '0')}`;

function board(...records: readonly Partial<TaskRecord>[]): BoardState {
  const cards = records.map((changes, at) => cardOf(taskRecord({ task_id: id(at), ...changes })));
  return boardOf(new Map(cards.map((card) => [`task/${card.task_id}`, card])));
}

function shown(state: BoardState, search = ''): [string, string[]][] {
  return groupsOf(state, search, NOW_MS).map(({ name, tasks }) => [name, tasks.map((task) => task.task_id)]);
}

test('what needs a person first comes first', () => {
  const ended_at = '2026-03-01T11:00:00.000Z';
  const state = board(
    { status: 'completed', ended_at },
    { status: 'pending', keeper: null },
    { status: 'running' },
    { status: 'failed', ended_at },
    { status: 'waiting', trouble: { kind: 'usage-limit', since: ended_at, resumes_at: null } },
    { status: 'waiting', reason: 'A dialog waits.' },
    { status: 'waiting', reason: 'The turn is over; the session waits for a message.' },
  );
  expect(shown(state)).toEqual([
    ['waiting', [id(5)]],
    ['limits', [id(4)]],
    ['failed', [id(3)]],
    ['running', [id(2)]],
    ['ready', [id(6)]],
    ['queued', [id(1)]],
    ['ended', [id(0)]],
  ]);
});

test('a task that runs and asks something waits for a person', () => {
  const asked = decisionViewOf(id(0), decision());
  const state = { ...board({ status: 'running' }), decisions: { [`${id(0)}/dec_1`]: asked } };
  expect(shown(state)).toEqual([['waiting', [id(0)]]]);
});

test('a failure is history after a day, and what a person killed is none', () => {
  const state = board(
    { status: 'failed', ended_at: '2026-02-27T11:00:00.000Z' },
    { status: 'killed', ended_at: '2026-03-01T11:00:00.000Z' },
  );
  expect(shown(state)).toEqual([['ended', [id(1), id(0)]]]);
});

test('a search finds tasks by all of its words, in any order and case', () => {
  const state = board(
    { prompt_summary: 'Fix the LOGIN' },
    { prompt_summary: 'Write docs', project_path: '/home/ann/login' },
  );
  expect(shown(state, 'login fix')).toEqual([['running', [id(0)]]]);
  expect(shown(state, 'login')).toEqual([['running', [id(0), id(1)]]]);
  expect(shown(state, 'nothing')).toEqual([]);
});
