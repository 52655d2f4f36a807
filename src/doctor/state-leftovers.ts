import { systemClock } from '../base/system-clock.js';
import { runningMarks } from '../os/running-marks.js';
import { ownIdentity, processState, type ProcessState } from '../store/process-identity.js';
import { ownerState } from '../store/owner-state.js';
import { ProjectLocks, type LockHolder } from '../store/project-lock.js';
import { StateDir } from '../store/state-dir.js';
import { readRecordFile } from '../tasks/record/record-file.js';
import { isFinal, isNative, type TaskRecord } from '../tasks/task.js';
import { systemCodeOf } from '../base/errors.js';
import { lstat } from 'node:fs/promises';

/** A keeper exits within seconds of the end of its task. */
const LEAVES_WITHIN_MS = 5 * 60_000;

/** What is in a state directory though nothing uses it any more. */
export interface StateLeftovers {
  /** Tasks that have not ended in their records, and whose keeper is gone. */
  readonly abandoned: readonly TaskRecord[];
  /** Tasks that have ended, and whose processes still run. */
  readonly running: readonly TaskRecord[];
  /** Tasks that have ended, and whose keeper still runs. */
  readonly stuck: readonly TaskRecord[];
  readonly locks: readonly LockHolder[];
  /** Worktrees of ended tasks, which hold work: only a person ends them. */
  readonly worktrees: readonly TaskRecord[];
  /** Ids of tasks with a record that a newer bridge wrote. */
  readonly newer: readonly string[];
  /** Ids of tasks with a record that cannot be read. */
  readonly corrupt: readonly string[];
  /** Of tasks that run. */
  readonly tasks: readonly TaskRecord[];
}

/** Reads the state directory and changes nothing in it. Undefined when there is none. Throws STATE_UNUSABLE. */
export async function stateLeftovers(statePath: string): Promise<StateLeftovers | undefined> {
  if (!(await exists(statePath))) return undefined;
  const stateDir = new StateDir(statePath);
  const { marks } = await runningMarks();
  const found = {
    abandoned: [] as TaskRecord[],
    running: [] as TaskRecord[],
    stuck: [] as TaskRecord[],
    worktrees: [] as TaskRecord[],
    newer: [] as string[],
    corrupt: [] as string[],
    tasks: [] as TaskRecord[],
  };
  for (const id of await stateDir.listTaskIds()) {
    const file = await readRecordFile(stateDir, id);
    if (file.state === 'newer') found.newer.push(id);
    if (file.state === 'corrupt') found.corrupt.push(id);
    if (file.state !== 'ok') continue;
    const { record } = file;
    const keeper = await keeperState(record, statePath);
    if (!isFinal(record.status)) {
      // A task in the queue has no keeper yet.
      if (keeper === 'gone') found.abandoned.push(record);
      else if (!isNative(record)) found.tasks.push(record);
      continue;
    }
    const isLong = Date.now() - Date.parse(record.ended_at ?? '') > LEAVES_WITHIN_MS;
    if (keeper === 'alive' && isLong && !isNative(record)) found.stuck.push(record);
    else if (keeper === 'gone' && marks.has(record.process_mark)) found.running.push(record);
    const { worktree } = record;
    if (worktree !== undefined && worktree.finished === undefined && (await exists(worktree.path)))
      found.worktrees.push(record);
  }
  const { dead } = await projectLocks(stateDir).table();
  return { ...found, locks: dead };
}

/** Removes the locks of dead processes that name no task which still has to be ended. */
export async function clearLocks(statePath: string): Promise<number> {
  const stateDir = new StateDir(statePath);
  return projectLocks(stateDir).exclusively(async (table) => {
    let cleared = 0;
    for (const lock of table.dead) {
      const file = await readRecordFile(stateDir, lock.task_id);
      const isOver = file.state === 'missing' || (file.state === 'ok' && isFinal(file.record.status));
      if (!isOver) continue;
      await table.clear(lock);
      cleared++;
    }
    return cleared;
  });
}

function projectLocks({ lockDir }: StateDir): ProjectLocks {
  return new ProjectLocks(lockDir, systemClock, () => undefined);
}

async function keeperState({ keeper }: TaskRecord, statePath: string): Promise<ProcessState | undefined> {
  if (keeper === null) return undefined;
  await ownIdentity();
  const state = await processState(keeper);
  return state === 'unknown' ? ownerState(keeper, { statePath, clock: systemClock }) : state;
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return false;
  }
}
