import { expect, it } from 'vitest';
import { WaitCursor } from '../../../src/tasks/watch/task-waiter.js';
import { sampleRecord, TASK_ID } from '../sample-task.js';

const other = 'task_ffffffffffffffffffff';

it('a cursor says what was seen; only later changes count', () => {
  const seen = WaitCursor.of([
    sampleRecord({ change_seq: 4 }),
    sampleRecord({ task_id: other, change_seq: 7 }),
  ]);
  expect(seen).toBe(`${TASK_ID}:4,${other}:7`);
  const cursor = WaitCursor.parse(seen);
  expect(cursor.changed([sampleRecord({ change_seq: 4, status: 'waiting' })])).toEqual([]);
  expect(cursor.changed([sampleRecord({ change_seq: 5 })])).toEqual([TASK_ID]);
});

it.each([
  { status: 'running', changed: [] },
  { status: 'starting', changed: [] },
  { status: 'waiting', changed: [TASK_ID] },
  { status: 'failed', changed: [TASK_ID] },
] as const)(
  'without a cursor a task that is $status counts only when nothing is to be waited for',
  ({ status, changed }) => {
    expect(WaitCursor.parse(undefined).changed([sampleRecord({ status, change_seq: 9 })])).toEqual(changed);
    expect(WaitCursor.parse('').changed([sampleRecord({ status, change_seq: 9 })])).toEqual(changed);
  },
);

it.each([
  'x',
  'task_1:2',
  `${TASK_ID}`,
  `${TASK_ID}:`,
  `${TASK_ID}:-1`,
  `${TASK_ID}:1,`,
  `${TASK_ID}:9999999999999`,
])('no cursor: %s', (text) => {
  expect(() => WaitCursor.parse(text)).toThrow('Invalid cursor.');
});
