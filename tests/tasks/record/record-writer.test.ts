import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { StateDir } from '../../../src/store/state-dir.js';
import { RecordWriter } from '../../../src/tasks/record/record-writer.js';
import { taskRecordSchema, type TaskRecord } from '../../../src/tasks/task.js';
import { ManualClock } from '../../harness/manual-clock.js';
import { sampleRecord, TASK_ID } from '../sample-task.js';

let folder: string;
let path: string;
let stateDir: StateDir;
let clock: ManualClock;
let writer: RecordWriter;
let faults: unknown[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'writer-'));
  stateDir = new StateDir(folder);
  path = stateDir.recordFile(TASK_ID);
  await mkdir(stateDir.tasksDir);
  clock = new ManualClock();
  writer = new RecordWriter(stateDir, clock);
  faults = [];
  writer.onDidFail((error) => faults.push(error));
});
afterEach(async () => {
  writer.dispose();
  await rm(folder, { recursive: true, force: true });
});

const onDisk = async (): Promise<TaskRecord> =>
  taskRecordSchema.parse(JSON.parse(await readFile(path, 'utf8')));

it('a record that the disk did not take is tried again until it does, the newest one', async () => {
  // A file where the folder should be: nobody can write below it, not even root.
  await writeFile(stateDir.taskDir(TASK_ID), '');
  let told = 0;
  writer.onDidWrite(() => told++);
  await writer.write(sampleRecord({ activity: 'one' }));
  // Followers learn of it all the same.
  expect(told).toBe(1);
  expect([writer.isFailing, writer.hasWritten, faults.length]).toEqual([true, false, 1]);
  await writer.write(sampleRecord({ activity: 'two' }));
  expect(faults).toHaveLength(2);
  await rm(stateDir.taskDir(TASK_ID));
  await writer.retry();
  expect(writer.isFailing).toBe(false);
  expect((await onDisk()).activity).toBe('two');
  expect(clock.timerCount).toBe(0);
});

it('a folder that was removed is made again', async () => {
  await mkdir(stateDir.taskDir(TASK_ID));
  await writer.write(sampleRecord());
  await rm(stateDir.taskDir(TASK_ID), { recursive: true });
  await writer.write(sampleRecord({ activity: 'lost' }));
  expect(writer.isFailing).toBe(true);
  await writer.retry();
  expect((await onDisk()).activity).toBe('lost');
  expect(writer.isFailing).toBe(false);
});

it('each record that is told is the one on disk, whatever is to be written next', async () => {
  await mkdir(stateDir.taskDir(TASK_ID));
  const told: [string, string][] = [];
  writer.onDidWrite((record) => {
    const { activity } = taskRecordSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
    told.push([record.activity, activity]);
  });
  const first = writer.write(sampleRecord({ activity: 'one' }));
  // Comes while the first is being written.
  const second = writer.write(sampleRecord({ activity: 'two' }));
  await Promise.all([first, second]);
  expect(told).toEqual([
    ['one', 'one'],
    ['two', 'two'],
  ]);
});
