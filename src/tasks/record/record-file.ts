import { nextEvent } from '../../base/lifecycle.js';
import { statSync } from 'node:fs';
import { withinMs, type Clock } from '../../base/clock.js';
import { readJsonFile, writeJsonFileAtomically } from '../../base/files/json-file.js';
import type { StateDir } from '../../store/state-dir.js';
import { isFinal, taskRecordSchema, type TaskRecord } from '../task.js';
import type { KeptTaskName, TaskHost } from '../task-host.js';

/** A record is parsed in one go. Its parts are bounded, so that it stays far below. */
const MAX_RECORD_BYTES = 16 * 1024 * 1024;
/** The change file is dated right after each write; with more between them the disk did not take the newest record. */
const BEHIND_MS = 1_000;
/** A keeper sends its record as soon as a client connects. */
const ANSWER_LIMIT_MS = 500;

export type RecordFile =
  | { readonly state: 'ok'; readonly record: TaskRecord }
  | { readonly state: 'missing' }
  /** It is no record. `why` is a sentence. */
  | { readonly state: 'corrupt'; readonly why: string };

/**
 * The record of a task on disk. One that cannot be read stays where it is: its keeper may live, and puts a whole one there with its
 * next change. Throws BridgeError STATE_UNUSABLE when the disk does not let it be read.
 */
export async function readRecordFile(stateDir: StateDir, taskId: string): Promise<RecordFile> {
  const path = stateDir.recordFile(taskId);
  const file = await readJsonFile(path, taskRecordSchema, MAX_RECORD_BYTES);
  if (file.state === 'ok') return { state: 'ok', record: file.value };
  if (file.state === 'missing') return file;
  return { state: 'corrupt', why: `The record ${path} cannot be read: ${file.why}.` };
}

export function recordOf(file: RecordFile): TaskRecord | undefined {
  return file.state === 'ok' ? file.record : undefined;
}

/** Puts a record on disk, whole, and tells those who follow the task. Throws STATE_UNUSABLE; those who follow learn that, too. */
export async function writeRecordFile(stateDir: StateDir, record: TaskRecord, durable = true): Promise<void> {
  const { task_id: taskId, status } = record;
  let isWritten = false;
  try {
    const path = stateDir.recordFile(taskId);
    await writeJsonFileAtomically(path, record, { maxBytes: MAX_RECORD_BYTES, durable });
    isWritten = true;
  } finally {
    stateDir.noteChange(taskId, isWritten && isFinal(status));
  }
}

/** The record of a running task: as its keeper has it, while the disk does not take the newest one. */
export async function liveRecord(
  record: TaskRecord,
  { stateDir, ...keeper }: { readonly stateDir: StateDir; readonly host: TaskHost; readonly clock: Clock },
): Promise<TaskRecord> {
  const { task_id: taskId } = record;
  const [changedMs = 0, writtenMs = 0] = [stateDir.changeFile(taskId), stateDir.recordFile(taskId)].map(
    dateOf,
  );
  if (changedMs - writtenMs <= BEHIND_MS) return record;
  return (await recordOfKeeper(record, keeper)) ?? record;
}

/** The record of a running task as its keeper has it; undefined when it does not tell it at once. */
export function recordOfKeeper(
  task: KeptTaskName,
  { host, clock }: { readonly host: TaskHost; readonly clock: Clock },
): Promise<TaskRecord | undefined> {
  const ask = async (): Promise<TaskRecord | undefined> => {
    const link = await host.connect(task);
    try {
      return link && (await withinMs(clock, ANSWER_LIMIT_MS, nextEvent(link.onRecord)));
    } finally {
      link?.dispose();
    }
  };
  // A keeper that cannot be reached now: what it last wrote is what is known.
  return withinMs(
    clock,
    ANSWER_LIMIT_MS,
    ask().catch(() => undefined),
  );
}

/** In milliseconds; undefined for a file that is missing or out of reach: its reader says why. */
function dateOf(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  } catch {
    return undefined;
  }
}
