import { expect, test } from 'vitest';
import { emptyBoard, type BoardState, type TaskCard } from '../../src/board/state.js';
import { OpenTerminals } from '../../vscode/src/tasks/terminals/open-terminals.js';
import { runningTasks } from '../../vscode/src/tasks/terminals/running-tasks.js';
import { taskCard } from './fake-board.js';

function boardOf(...cards: readonly TaskCard[]): BoardState {
  return { ...emptyBoard, tasks: Object.fromEntries(cards.map((card) => [card.task_id, card])) };
}

function memory(stored?: unknown): { value: unknown } & ConstructorParameters<typeof OpenTerminals>[0] {
  return {
    value: stored,
    get() {
      return this.value;
    },
    async update(_key: string, value: unknown) {
      this.value = value;
    },
  };
}

test('terminals that were open are opened again for tasks that still run, and others are forgotten', async () => {
  const place = memory();
  const open = new OpenTerminals(place);
  for (const id of ['runs', 'closed', 'ended', 'gone', 'runs']) await open.add(id);
  await open.remove('closed');
  const board = boardOf(taskCard({ task_id: 'runs' }), taskCard({ task_id: 'ended', is_final: true }));
  expect(await new OpenTerminals(place).ofBefore(board)).toEqual(['runs']);
  expect(place.value).toEqual(['runs']);
});

test('what another version stored is no reason to fail', async () => {
  expect(await new OpenTerminals(memory({ version: 9 })).ofBefore(emptyBoard)).toEqual([]);
});

test('the list to choose from has the tasks that run, the newest first, on lines of their own', () => {
  const board = boardOf(
    taskCard({ task_id: 'old', created_at: '2026-01-01T00:00:00Z' }),
    taskCard({
      task_id: 'new',
      created_at: '2026-01-02T00:00:00Z',
      prompt_summary: 'two\nlines $(bug)',
      project_path: '/home/me/shop',
      status: 'waiting',
    }),
    taskCard({ task_id: 'ended', is_final: true }),
  );
  expect(runningTasks(board)).toMatchObject([
    { taskId: 'new', label: 'two ⏎ lines $ (bug)', description: 'shop · waiting' },
    { taskId: 'old' },
  ]);
});
