import { expect, it } from 'vitest';
import { Emitter, toDisposable } from '../../../src/base/lifecycle.js';
import type { TaskRecord } from '../../../src/tasks/task.js';
import type { WaitOutcome } from '../../../src/tasks/task-service.js';
import { waitForTasks } from '../../../src/tasks/watch/task-waiter.js';
import { WaitCursor } from '../../../src/tasks/watch/task-waiter.js';
import { ManualClock } from '../../harness/manual-clock.js';
import { until } from '../../harness/until.js';
import { sampleRecord } from '../sample-task.js';

const TASKS = 20;
const WAIT_MS = 45_000;

const idOf = (index: number): string => `task_${String(index).padStart(20, '0')}`;

/** Somebody who waits for many tasks, all of which run; `looks` counts how often each was read. */
function waiting(given?: string): {
  clock: ManualClock;
  records: Map<string, TaskRecord>;
  looks: Map<string, number>;
  changes: Emitter<string>;
  outcome: Promise<WaitOutcome>;
} {
  const clock = new ManualClock();
  const taskIds = Array.from({ length: TASKS }, (_, index) => idOf(index));
  const records = new Map(
    taskIds.map((task_id) => [task_id, sampleRecord({ task_id, status: 'running', change_seq: 3 })]),
  );
  const looks = new Map<string, number>();
  const changes = new Emitter<string>();
  const outcome = waitForTasks(
    {
      taskIds,
      timeoutMs: WAIT_MS,
      cursor: given ?? WaitCursor.of([...records.values()]),
      signal: new AbortController().signal,
    },
    {
      clock,
      get: async (taskId) => {
        looks.set(taskId, (looks.get(taskId) ?? 0) + 1);
        await new Promise(setImmediate);
        return records.get(taskId) ?? sampleRecord();
      },
      watch: () => toDisposable(() => undefined),
      onDidChange: changes.event,
    },
  );
  return { clock, records, looks, changes, outcome };
}

it('a caller without a cursor wakes when a task that runs has news, such as a warning of its budget', async () => {
  const { records, looks, changes, outcome } = waiting('');
  await until('each task was read', () => looks.size === TASKS);
  // The first check is over when the second begins.
  changes.fire(idOf(7));
  await until('the task was read again', () => looks.get(idOf(7)) === 2);
  const reason = 'The agent runs. 80 % of the budget is used: $1.62 of $2.00.';
  records.set(idOf(7), sampleRecord({ task_id: idOf(7), status: 'running', reason, change_seq: 4 }));
  changes.fire(idOf(7));
  expect(await outcome).toMatchObject({ changed: [idOf(7)] });
});

it('a task that changed is read again, and no other task', async () => {
  const { records, looks, changes, outcome } = waiting();
  await expect.poll(() => looks.size).toBe(TASKS);
  for (let count = 0; count < 100; count++) {
    changes.fire(idOf(7));
    if (count % 10 === 0) await new Promise(setImmediate);
  }
  await expect.poll(() => looks.get(idOf(7)) ?? 0).toBeGreaterThan(1);
  expect(looks.get(idOf(7))).toBeLessThan(50);
  expect(looks.get(idOf(0))).toBe(1);
  const ended = sampleRecord({ task_id: idOf(7), status: 'completed', change_seq: 4 });
  records.set(idOf(7), ended);
  changes.fire(idOf(7));
  const { tasks, changed } = await outcome;
  expect(changed).toEqual([idOf(7)]);
  expect(tasks).toHaveLength(TASKS);
  expect(tasks[7]).toBe(ended);
  // All are told as they are now, not as they were at the first look.
  expect(looks.get(idOf(0))).toBe(2);
});

it('the end of the time answers with every task, and without a change', async () => {
  const { clock, looks, outcome } = waiting();
  await expect.poll(() => looks.size).toBe(TASKS);
  clock.advance(WAIT_MS);
  expect(await outcome).toMatchObject({ changed: [] });
  expect((await outcome).tasks).toHaveLength(TASKS);
});

it('of tasks that have all ended, a caller that knows it does not wait', async () => {
  const records = [0, 1].map((index) =>
    sampleRecord({ task_id: idOf(index), status: 'completed', change_seq: 4 }),
  );
  const outcome = await waitForTasks(
    {
      taskIds: records.map(({ task_id }) => task_id),
      timeoutMs: WAIT_MS,
      cursor: WaitCursor.of(records),
      signal: new AbortController().signal,
    },
    {
      clock: new ManualClock(),
      get: async (taskId) => records.find(({ task_id }) => task_id === taskId) ?? sampleRecord(),
      watch: () => toDisposable(() => undefined),
      onDidChange: new Emitter<string>().event,
    },
  );
  expect(outcome).toEqual({ tasks: records, changed: [], cursor: WaitCursor.of(records) });
});
