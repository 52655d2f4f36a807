import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.js';
import { Emitter } from '../../../src/base/event.js';
import { openStateDir, type StateDir } from '../../../src/store/state-dir.js';
import { liveRecord } from '../../../src/tasks/record/live-record.js';
import type { TaskRecord } from '../../../src/tasks/task.js';
import type { TaskHost } from '../../../src/tasks/task-host.js';
import { sampleRecord, TASK_ID } from '../sample-task.js';

const onDisk = sampleRecord({ status: 'running', activity: 'as on disk' });
const held = sampleRecord({ status: 'running', storage: 'failing since then' });
let folder: string;
let stateDir: StateDir;
let asked: number;
let disposed: number;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'live-'));
  stateDir = await openStateDir({ path: join(folder, 'state') });
  await stateDir.createTaskDir(TASK_ID);
  await writeFile(stateDir.recordFile(TASK_ID), '');
  asked = 0;
  disposed = 0;
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A host whose keeper tells `tells` when somebody connects; without it the keeper is silent. */
function hostWith(tells: TaskRecord | undefined): TaskHost {
  return {
    launch: () => Promise.reject(new Error('not asked for here')),
    connect: async () => {
      asked++;
      const changes = new Emitter<TaskRecord>();
      if (tells !== undefined) setImmediate(() => changes.fire(tells));
      const never = (): Promise<never> => Promise.reject(new Error('not asked for here'));
      return {
        onRecord: changes.event,
        onDidChange: new Emitter<number>().event,
        onDidClose: new Emitter<void>().event,
        respond: never,
        message: never,
        kill: never,
        screen: never,
        dispose: () => disposed++,
      };
    },
  };
}

const read = (host: TaskHost, record = onDisk, clock = systemClock): Promise<TaskRecord> =>
  liveRecord(record, { stateDir, host, clock });
const aged = (seconds: number): Promise<void> =>
  utimes(stateDir.recordFile(TASK_ID), Date.now() / 1000 - seconds, Date.now() / 1000 - seconds);

it('a record that was just written is taken from the disk', async () => {
  expect(await read(hostWith(held))).toBe(onDisk);
  expect(asked).toBe(0);
});

it('one that was written in this very millisecond is taken from the disk', async () => {
  const nowMs = 1_800_000_000_000;
  const writtenSeconds = (nowMs + 0.7) / 1000;
  await utimes(stateDir.recordFile(TASK_ID), writtenSeconds, writtenSeconds);
  expect(await read(hostWith(held), onDisk, { ...systemClock, now: () => nowMs })).toBe(onDisk);
});

it('one that says that its task is being started is asked of its keeper, which may be further', async () => {
  const starting = sampleRecord({ status: 'starting' });
  expect(await read(hostWith(held), starting)).toBe(held);
  expect(await read(hostWith(undefined), starting)).toBe(starting);
});

it.each([{ age: 60 }, { age: -3_600 }])('one that is $age s old is asked of its keeper', async ({ age }) => {
  await aged(age);
  expect(await read(hostWith(held))).toBe(held);
  expect([asked, disposed]).toEqual([1, 1]);
});

it('one that was removed is asked of its keeper', async () => {
  await rm(stateDir.recordFile(TASK_ID));
  expect(await read(hostWith(held))).toBe(held);
});

it('a keeper that is silent, gone or out of reach leaves what is on disk', async () => {
  await aged(60);
  expect(await read(hostWith(undefined))).toBe(onDisk);
  expect(disposed).toBe(1);
  const launch = (): Promise<never> => Promise.reject(new Error('not asked for here'));
  expect(await read({ launch, connect: async () => undefined })).toBe(onDisk);
  expect(await read({ launch, connect: () => Promise.reject(new Error('EMFILE')) })).toBe(onDisk);
});
