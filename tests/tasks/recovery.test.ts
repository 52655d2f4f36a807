import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import { openStateDir, type StateDir } from '../../src/store/state-dir.js';
import { recoverTask } from '../../src/tasks/recovery.js';
import { taskRecordSchema, type Decision } from '../../src/tasks/task.js';
import { ManualClock } from '../harness/manual-clock.js';
import { sampleRecord, TASK_ID } from './sample-task.js';

let folder: string;
let stateDir: StateDir;
let marks: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recovery-'));
  stateDir = await openStateDir({ path: join(folder, 'state') });
  await stateDir.createTaskDir(TASK_ID);
  marks = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open: Decision = {
  decision_id: 'dec_1',
  kind: 'permission',
  tool: 'Bash',
  input: {},
  summary: 'Bash(make)',
  options: [],
  asked_at: 'then',
  expires_at: 'later',
  closed_at: null,
  verdict: null,
  answered_by: null,
  reason: null,
};

it('a task whose keeper is gone ends as error, with what is known of it, and nothing of it stays', async () => {
  const socket = join(folder, 'task.sock');
  await writeFile(socket, '');
  const record = sampleRecord({
    status: 'waiting',
    socket_path: socket,
    decisions: [open],
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
  expect(recovered.reason).toMatch(/(killed|crashed|restarted).*while the task was waiting\. 2 process\(es\)/);
  expect(marks).toEqual(['a-mark']);
  expect(existsSync(socket)).toBe(false);
  const onDisk: unknown = JSON.parse(await readFile(stateDir.recordFile(TASK_ID), 'utf8'));
  expect(taskRecordSchema.parse(onDisk)).toEqual(recovered);
});

it('processes that cannot be ended do not keep the truth from being written', async () => {
  const recovered = await recoverTask(
    sampleRecord({ status: 'running', socket_path: join(folder, 'none.sock') }),
    {
      stateDir,
      clock: new ManualClock(),
      logger: silentLogger,
      endMarked: () => Promise.reject(new Error('no /proc')),
    },
  );
  expect(recovered.status).toBe('error');
});
