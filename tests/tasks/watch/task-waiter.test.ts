import { expect, it } from 'vitest';
import { Emitter, toDisposable } from '../../../src/base/lifecycle.js';
import type { TaskRecord } from '../../../src/tasks/task.js';
import type { WaitOutcome } from '../../../src/tasks/task-service.js';
import { changedSince, WaitCursor, waitForTasks } from '../../../src/tasks/watch/task-waiter.js';
import { ManualClock } from '../../harness/manual-clock.js';
import { until } from '../../harness/until.js';
import { sampleRecord, TASK_ID } from '../sample-task.js';

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

it('a change answers with every task as it is then, and names the one that changed', async () => {
  const { records, looks, changes, outcome } = waiting();
  await until('each task was read', () => looks.size === TASKS);
  const ended = sampleRecord({ task_id: idOf(7), status: 'completed', change_seq: 4 });
  records.set(idOf(7), ended);
  changes.fire(idOf(7));
  const { tasks, changed } = await outcome;
  expect(changed).toEqual([idOf(7)]);
  expect(tasks).toHaveLength(TASKS);
  expect(tasks[7]).toBe(ended);
});

it('a cursor says what was seen; only later changes count', () => {
  const seen = WaitCursor.of([
    sampleRecord({ change_seq: 4 }),
    sampleRecord({ task_id: idOf(8), change_seq: 7 }),
  ]);
  expect(seen).toBe(`${TASK_ID}:4,${idOf(8)}:7`);
  const changed = changedSince(seen);
  expect(changed([sampleRecord({ change_seq: 4, status: 'waiting' })])).toEqual([]);
  expect(changed([sampleRecord({ change_seq: 5 })])).toEqual([TASK_ID]);
});

it.each([
  { status: 'running', changed: [] },
  { status: 'starting', changed: [] },
  { status: 'waiting', changed: [TASK_ID] },
  { status: 'failed', changed: [TASK_ID] },
] as const)(
  'without a cursor a task that is $status counts only when nothing is to be waited for',
  ({ status, changed }) => {
    expect(changedSince()([sampleRecord({ status, change_seq: 9 })])).toEqual(changed);
    expect(changedSince('')([sampleRecord({ status, change_seq: 9 })])).toEqual(changed);
  },
);

it.each(['x', `${TASK_ID}:-1`, `${TASK_ID}:9999999999999`])('no cursor: %s', (text) => {
  expect(() => changedSince(text)).toThrow('Invalid cursor.');
});
