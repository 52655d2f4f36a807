import { expect, it, onTestFinished } from 'vitest';
import { StateDir } from '../../../src/store/state-dir.js';
import type { TaskRecord } from '../../../src/tasks/task.js';
import { TaskWatches } from '../../../src/tasks/watch/task-watches.js';
import { ManualClock } from '../../harness/manual-clock.js';
import { until } from '../../harness/until.js';
import { deadProcess } from '../../store/write-lease.js';
import { sampleRecord, TASK_ID } from '../sample-task.js';
import { tempFolder } from '../../harness/temp-folder.js';

const OTHER_ID = 'task_99999999999999999999';

/** Followers of a state directory whose records are `records`; `told` has each change that they learn of. */
async function following() {
  const folder = await tempFolder();
  const stateDir = new StateDir(folder);
  const clock = new ManualClock();
  const records = new Map<string, TaskRecord>();
  const told: string[] = [];
  const watches = new TaskWatches({
    stateDir,
    clock,
    read: async (taskId) => records.get(taskId),
  });
  watches.onDidChange((taskId) => told.push(taskId));
  onTestFinished(() => watches.dispose());
  /** Puts a record there, as a keeper does. */
  const put = (more: Partial<TaskRecord>): void => {
    const record = sampleRecord({ status: 'running', keeper: null, ...more });
    records.set(record.task_id, record);
    stateDir.noteChange(record.task_id, record.status === 'completed');
  };
  const check = async (): Promise<void> => {
    await until('the end of a check', () => clock.timerCount === 1);
    clock.advance(1_000);
    await until('the end of a check', () => clock.timerCount === 1);
  };
  return { watches, told, put, check, clock };
}

it('a followed task is reported when its record is written and when it ends; other tasks are not', async () => {
  const { watches, told, put } = await following();
  put({});
  watches.watch(TASK_ID);
  put({ task_id: OTHER_ID });
  put({ change_seq: 8 });
  await until('the change', () => told.includes(TASK_ID));
  const before = told.length;
  put({ change_seq: 9, status: 'completed' });
  await until('the end of the task', () => told.length > before);
  expect(told).not.toContain(OTHER_ID);
});

it('of all active tasks, one that another process starts is reported', async () => {
  const { watches, told, put } = await following();
  watches.watch('active');
  put({ task_id: OTHER_ID });
  await until('the new task', () => told.includes(OTHER_ID));
});

it('a task whose keeper died without a word is reported once', async () => {
  const { watches, told, put, check } = await following();
  put({});
  watches.watch(TASK_ID);
  await check();
  told.splice(0);
  // No process has so high a pid.
  put({ keeper: { ...deadProcess, pid: 2 ** 30 } });
  await until('the change', () => told.length > 0);
  told.splice(0);
  await check();
  await check();
  expect(told).toEqual([TASK_ID]);
});

it('nothing is read or told any more when no one follows', async () => {
  const { watches, told, put, clock } = await following();
  const watching = watches.watch(TASK_ID);
  watching.dispose();
  put({});
  expect(clock.timerCount).toBe(0);
  expect(told).toEqual([]);
});
