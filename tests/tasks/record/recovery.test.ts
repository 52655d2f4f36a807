import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.js';
import { openStateDir, type StateDir } from '../../../src/store/state-dir.js';
import { endUnreadable, recoverTask } from '../../../src/tasks/record/recovery.js';
import { taskRecordSchema } from '../../../src/tasks/task.js';
import { ManualClock } from '../../harness/manual-clock.js';
import { sampleDecision } from '../sample-decision.js';
import { sampleRecord, sampleSpec, TASK_ID } from '../sample-task.js';
import { tempFolder } from '../../harness/temp-folder.js';

let folder: string;
let stateDir: StateDir;
let marks: string[];

beforeEach(async () => {
  folder = await tempFolder();
  stateDir = await openStateDir({ path: join(folder, 'state') });
  await stateDir.createTaskDir(TASK_ID);
  marks = [];
});

it('a task whose keeper is gone ends as error, with what is known of it, and nothing of it stays', async () => {
  const socket = join(folder, 'task.sock');
  await writeFile(socket, '');
  const record = sampleRecord({
    status: 'waiting',
    socket_path: socket,
    decisions: [sampleDecision()],
    last_output: 'half done',
    change_seq: 3,
  });
  const recovered = await recoverTask(record, {
    stateDir,
    clock: new ManualClock(),
    logger: silentLogger,
    endMarked: async (mark) => marks.push(mark) + 1,
  });
  expect(recovered).toMatchObject({
    status: 'error',
    last_output: 'half done',
    change_seq: 4,
    ended_at: '2026-01-01T00:00:00.000Z',
    decisions: [{ verdict: 'withdrawn', answered_by: 'session' }],
  });
  expect(recovered.reason).toMatch(/(killed|crashed|restarted).*while the task was waiting\. 2 processes/);
  expect(marks).toEqual(['a-mark']);
  expect(existsSync(socket)).toBe(false);
  const onDisk: unknown = JSON.parse(await readFile(stateDir.recordFile(TASK_ID), 'utf8'));
  expect(taskRecordSchema.parse(onDisk)).toEqual(recovered);
});

const parts = (clock = new ManualClock()): Parameters<typeof recoverTask>[1] => ({
  stateDir,
  clock,
  logger: silentLogger,
  endMarked: async () => 0,
});

it('a restart of the machine is told as such', async () => {
  const keeper = { pid: 1, start_time: '1', boot_id: 'of an earlier boot' };
  const recovered = await recoverTask(sampleRecord({ status: 'running', keeper }), parts());
  expect(recovered.reason).toMatch(/^The machine was restarted.*while the task was running\.$/);
});

it('a task of which nobody saw the end ended when it last wrote, and never before it began', async () => {
  const wroteMs = Date.UTC(2026, 5, 1);
  const clock = new ManualClock();
  clock.advance(wroteMs + 3_600_000);
  const record = sampleRecord({ status: 'running', started_at: '2026-05-31T23:00:00.000Z' });
  await writeFile(stateDir.recordFile(TASK_ID), JSON.stringify(record));
  await utimes(stateDir.recordFile(TASK_ID), wroteMs / 1000, wroteMs / 1000);
  expect(await recoverTask(record, parts(clock))).toMatchObject({
    ended_at: '2026-06-01T00:00:00.000Z',
    elapsed_seconds: 3_600,
  });
  // The clock was set back behind the start.
  await writeFile(stateDir.recordFile(TASK_ID), JSON.stringify(record));
  const late = await recoverTask(record, parts());
  expect(late.ended_at).toBe('2026-05-31T23:00:00.000Z');
});

it('a process that has the pid of a dead keeper or agent now is left alone', async () => {
  const innocent = spawn('sleep', ['60']);
  const pid = innocent.pid ?? 0;
  const reused = { pid, start_time: '1', boot_id: null };
  const recovered = await recoverTask(
    sampleRecord({ status: 'running', keeper: reused, agent: reused }),
    parts(),
  );
  expect(recovered.status).toBe('error');
  expect(() => process.kill(pid, 0)).not.toThrow();
  const exits = once(innocent, 'exit');
  innocent.kill('SIGKILL');
  await exits;
});

it('a task whose record cannot be read ends as error and says so, with what its spec says', async () => {
  await writeFile(stateDir.recordFile(TASK_ID), '{"half');
  const why = 'The record /r cannot be read: it is not JSON.';
  await expect(endUnreadable(TASK_ID, why, parts())).rejects.toMatchObject({ code: 'STATE_UNUSABLE' });
  await writeFile(stateDir.specFile(TASK_ID), JSON.stringify(sampleSpec({ project_path: '/projects/app' })));
  const ended = await endUnreadable(TASK_ID, why, parts());
  expect(ended).toMatchObject({ status: 'error', reason: why, project_path: '/projects/app' });
  const onDisk: unknown = JSON.parse(await readFile(stateDir.recordFile(TASK_ID), 'utf8'));
  expect(taskRecordSchema.parse(onDisk)).toEqual(ended);
});
