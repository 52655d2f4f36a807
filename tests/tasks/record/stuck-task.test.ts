import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.js';
import { BridgeError } from '../../../src/base/errors.js';
import { silentLogger } from '../../../src/base/logger.js';
import { identityOf } from '../../../src/store/process-identity.js';
import { openStateDir } from '../../../src/store/state-dir.js';
import { recoverTask } from '../../../src/tasks/record/recovery.js';
import { endStuckTask } from '../../../src/tasks/record/stuck-task.js';
import { isFinal, taskRecordSchema, type TaskRecord } from '../../../src/tasks/task.js';
import { TaskUnreachable } from '../../../src/tasks/unreachable.js';
import { ManualClock } from '../../harness/manual-clock.js';
import { sampleRecord, TASK_ID } from '../sample-task.js';

interface Stuck {
  readonly keeper: ChildProcess;
  readonly record: TaskRecord;
  /** Ends the task, whose keeper does `askAgain` when it is asked once more. */
  readonly end: (
    askAgain: () => Promise<TaskRecord>,
    options?: { record?: TaskRecord; clock?: ManualClock; onDisk?: TaskRecord; onEnding?: () => void },
  ) => Promise<TaskRecord>;
  /** What a server does that finds the keeper gone. */
  readonly recover: () => Promise<TaskRecord>;
  /** What the disk says in the end. */
  readonly written: () => Promise<TaskRecord>;
}

const silent = (): Promise<never> =>
  Promise.reject(new TaskUnreachable(TASK_ID, 'its keeper does not answer', { isStuck: true }));

async function stuck(): Promise<Stuck> {
  const folder = await mkdtemp(join(tmpdir(), 'stuck-'));
  const keeper = spawn('sleep', ['60'], { stdio: 'ignore' });
  await once(keeper, 'spawn');
  onTestFinished(async () => {
    if (keeper.exitCode === null && keeper.signalCode === null) {
      keeper.kill('SIGKILL');
      await once(keeper, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  });
  const identity = await identityOf(keeper.pid ?? 0);
  if (identity === undefined) throw new Error('The keeper is gone.');
  const stateDir = await openStateDir({ path: join(folder, 'state') });
  await stateDir.createTaskDir(TASK_ID);
  const record = sampleRecord({ status: 'running', keeper: identity, socket_path: join(folder, 'a.sock') });
  return {
    keeper,
    record,
    recover: () =>
      recoverTask(record, { stateDir, clock: systemClock, logger: silentLogger, endMarked: async () => 0 }),
    end: (askAgain, { record: given = record, clock, onDisk, onEnding } = {}) =>
      endStuckTask(given, 'Enough.', {
        stateDir,
        clock: clock ?? systemClock,
        logger: silentLogger,
        endMarked: async () => {
          onEnding?.();
          return 2;
        },
        read: async () => onDisk,
        askAgain,
      }),
    written: async () =>
      taskRecordSchema.parse(JSON.parse(await readFile(stateDir.recordFile(TASK_ID), 'utf8'))),
  };
}

const isThere = ({ keeper }: Stuck): boolean => keeper.exitCode === null && keeper.signalCode === null;

it('a keeper that was halted goes on, and ends its task itself', async () => {
  const task = await stuck();
  task.keeper.kill('SIGSTOP');
  const ended = sampleRecord({ status: 'killed', reason: 'Enough.' });
  expect(await task.end(async () => ended)).toBe(ended);
  expect(isThere(task)).toBe(true);
  // A process that is halted takes no SIGTERM.
  task.keeper.kill('SIGTERM');
  await once(task.keeper, 'exit');
});

it('a keeper that had ended the task by then is believed', async () => {
  const task = await stuck();
  const onDisk = sampleRecord({ status: 'killed', reason: 'Enough.' });
  const over = new BridgeError('TASK_NOT_RUNNING', 'It ended.', 'Look.');
  expect(await task.end(() => Promise.reject(over), { onDisk })).toBe(onDisk);
  expect(isThere(task)).toBe(true);
});

it('a keeper that does not answer is ended, and what is told of the task is what it had written last', async () => {
  const task = await stuck();
  const exit = once(task.keeper, 'exit');
  const ended = await task.end(silent, { onDisk: { ...task.record, activity: '', change_seq: 41 } });
  expect(await exit).toEqual([null, 'SIGKILL']);
  expect(ended).toMatchObject({ status: 'killed', change_seq: 42 });
  expect(ended.reason).toBe(
    'Enough. Its keeper did not answer and was ended, too. 2 processes of the task still ran and were ended.',
  );
  expect(isFinal((await task.written()).status)).toBe(true);
});

it('who finds the keeper gone that was killed waits for the end that it was killed for', async () => {
  const task = await stuck();
  const found: Promise<TaskRecord>[] = [];
  const ended = await task.end(silent, { onEnding: () => found.push(task.recover(), task.recover()) });
  expect(ended).toMatchObject({ status: 'killed' });
  expect(await Promise.all(found)).toEqual([ended, ended]);
  expect(await task.written()).toEqual(ended);
});

it('a keeper that is gone is not signalled, and the task is given its end', async () => {
  const task = await stuck();
  task.keeper.kill('SIGKILL');
  await once(task.keeper, 'exit');
  const asked = (): Promise<never> => Promise.reject(new Error('nobody is asked'));
  expect(await task.end(asked)).toMatchObject({ status: 'killed' });
});

it('a process that has only the number of the keeper is left alone', async () => {
  const task = await stuck();
  const { keeper } = task.record;
  if (keeper === null) throw new Error('It has no keeper.');
  const record = { ...task.record, keeper: { ...keeper, start_time: '1' } };
  expect(await task.end(silent, { record })).toMatchObject({ status: 'killed' });
  expect(isThere(task)).toBe(true);
});

it('a process of which it is not known whether it is the keeper is left alone, and that is told', async () => {
  const task = await stuck();
  const { keeper } = task.record;
  if (keeper === null) throw new Error('It has no keeper.');
  const record = { ...task.record, keeper: { ...keeper, start_time: null } };
  await expect(task.end(silent, { record })).rejects.toThrow(
    /the system does not report whether process \d+/,
  );
  expect(isThere(task)).toBe(true);
});

it('a keeper that runs in another pid namespace gets no signal, though its pid is one here', async () => {
  const task = await stuck();
  const { keeper } = task.record;
  if (keeper === null) throw new Error('It has no keeper.');
  const record = { ...task.record, keeper: { ...keeper, namespace: 'pid:[1]' } };
  await expect(task.end(silent, { record })).rejects.toThrow(
    /runs in another container or on another machine/,
  );
  expect(isThere(task)).toBe(true);
});

it('a keeper that is at work on it for longer than a call lasts is let be', async () => {
  const task = await stuck();
  const clock = new ManualClock();
  const ending = task.end(() => new Promise(() => undefined), { clock });
  const told = expect(ending).rejects.toThrow(/has not ended it within 15 s/);
  await expect.poll(() => clock.timerCount).toBe(1);
  clock.advance(15_000);
  await told;
  expect(isThere(task)).toBe(true);
});

it('what else its keeper says is told', async () => {
  const task = await stuck();
  const error = new TaskUnreachable(TASK_ID, 'its keeper answered in its own way');
  await expect(task.end(() => Promise.reject(error))).rejects.toBe(error);
  expect(isThere(task)).toBe(true);
});
