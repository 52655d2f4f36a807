import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { StateDir } from '../../../src/store/state-dir.js';
import { writeJsonFileAtomically } from '../../../src/base/files/json-file.js';
import { overlappingTasks } from '../../../src/tasks/receipt/overlapping-tasks.js';
import type { TaskRecord } from '../../../src/tasks/task.js';
import { sampleRecord, TASK_ID } from '../sample-task.js';

const REPOSITORY = '/projects/app';
const at = (minute: number) => `2026-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`;
const record = sampleRecord({ started_at: at(10), ended_at: at(20), status: 'completed' });
const worktree = {
  project_path: `${REPOSITORY}/sub`,
  repository: REPOSITORY,
  path: '/elsewhere/tree',
  branch: 'b',
  base_commit: 'c',
  notes: [],
};

it.each<{ what: string; other: Partial<TaskRecord>; isFound: boolean }>([
  { what: 'one that runs still', other: { started_at: at(15) }, isFound: true },
  { what: 'one that ended in the middle', other: { started_at: at(1), ended_at: at(11) }, isFound: true },
  { what: 'a question', other: { purpose: 'ask', started_at: at(12), ended_at: at(13) }, isFound: true },
  { what: 'one below', other: { project_path: `${REPOSITORY}/sub`, started_at: at(15) }, isFound: true },
  { what: 'one in a worktree', other: { project_path: '/w', worktree, started_at: at(15) }, isFound: true },
  { what: 'one that ended before', other: { started_at: at(1), ended_at: at(9) }, isFound: false },
  { what: 'one that began after', other: { started_at: at(21) }, isFound: false },
  { what: 'one that never ran', other: { started_at: null }, isFound: false },
  { what: 'a neighbour', other: { project_path: `${REPOSITORY}2`, started_at: at(15) }, isFound: false },
])('$what in the same repository: $isFound', async ({ other, isFound }) => {
  const folder = await mkdtemp(join(tmpdir(), 'state-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const stateDir = new StateDir(folder);
  const id = 'task_ffffffffffffffffffff';
  for (const one of [record, sampleRecord({ ...other, task_id: id })]) {
    await stateDir.createTaskDir(one.task_id);
    await writeJsonFileAtomically(stateDir.recordFile(one.task_id), one);
  }
  expect(record.task_id).toBe(TASK_ID);
  expect(await overlappingTasks(record, REPOSITORY, stateDir)).toEqual(isFound ? [id] : []);
});
