import { statSync } from 'node:fs';
import { z } from 'zod';
import { withinMs, type Clock } from '../../base/clock.js';
import { nextEvent } from '../../base/lifecycle.js';
import { problemsOf, readJsonFile, writeJsonFileAtomically } from '../../base/files/json-file.js';
import type { StateDir } from '../../store/state-dir.js';
import { isFinal, taskRecordSchema, type TaskRecord } from '../task.js';
import type { KeptTaskName, TaskHost } from '../task-host.js';

/** A record is parsed in one go. Its parts are bounded, so that it stays far below. */
export const MAX_RECORD_BYTES = 16 * 1024 * 1024;
/** With so many of at most this size the memory stays below a hundred megabytes; others are read each time. */
const MAX_REMEMBERED = 2_000;
const MAX_REMEMBERED_BYTES = 32_768;
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
  const file = await readJsonFile(path, z.unknown(), MAX_RECORD_BYTES);
  if (file.state === 'missing') return file;
  if (file.state === 'corrupt') return corrupt(path, file.why);
  const parsed = taskRecordSchema.safeParse(file.value);
  return parsed.success ? { state: 'ok', record: parsed.data } : corrupt(path, problemsOf(parsed.error));
}

function corrupt(path: string, why: string): RecordFile {
  return { state: 'corrupt', why: `The record ${path} cannot be read: ${why}.` };
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

/**
 * The record of a running task as its keeper has it, where the one on disk is not its newest: the disk fails, or the task starts at this
 * moment.
 */
export async function liveRecord(
  record: TaskRecord,
  { stateDir, host, clock }: { readonly stateDir: StateDir; readonly host: TaskHost; readonly clock: Clock },
): Promise<TaskRecord> {
  const { task_id: taskId, status } = record;
  const isAsked = status === 'starting' || isBehind(stateDir, taskId);
  return (isAsked ? await recordOfKeeper(record, { host, clock }) : undefined) ?? record;
}

function isBehind(stateDir: StateDir, taskId: string): boolean {
  const [change, record] = [stateDir.changeFile(taskId), stateDir.recordFile(taskId)].map(dateOf);
  return change !== undefined && change - (record ?? 0) > BEHIND_MS;
}

function dateOf(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  } catch {
    // The state folder cannot be reached now: its reader says why.
    return undefined;
  }
}

/** The record of a running task as its keeper has it; undefined when it does not tell it at once. */
export async function recordOfKeeper(
  task: KeptTaskName,
  { host, clock }: { readonly host: TaskHost; readonly clock: Clock },
): Promise<TaskRecord | undefined> {
  try {
    const connecting = host.connect(task);
    const link = await withinMs(clock, ANSWER_LIMIT_MS, connecting);
    if (link === undefined) {
      // Nothing else would close one that comes too late.
      void connecting.then(
        (late) => late?.dispose(),
        () => undefined,
      );
      return undefined;
    }
    try {
      return await withinMs(clock, ANSWER_LIMIT_MS, nextEvent(link.onRecord));
    } finally {
      link.dispose();
    }
  } catch {
    // A keeper that cannot be reached now: what it last wrote is what is known.
    return undefined;
  }
}

/**
 * Reads records, each once for each change of its file: to read and check one takes a fifth of a millisecond, to see whether it changed a
 * fiftieth of that.
 */
export class RecordFiles {
  readonly #stateDir: StateDir;
  readonly #known = new Map<string, { readonly stamp: string; readonly file: RecordFile }>();

  constructor(stateDir: StateDir) {
    this.#stateDir = stateDir;
  }

  /** As `readRecordFile`. */
  async read(taskId: string): Promise<RecordFile> {
    const stamp = stampOf(this.#stateDir.recordFile(taskId));
    const known = this.#known.get(taskId);
    if (stamp !== undefined && known?.stamp === stamp) return known.file;
    this.#known.delete(taskId);
    const file = await readRecordFile(this.#stateDir, taskId);
    // What was written since the stamp was taken has another one.
    if (stamp !== undefined && file.state === 'ok' && this.#known.size < MAX_REMEMBERED)
      this.#known.set(taskId, { stamp, file });
    return file;
  }
}

/** Of one content of a file, which is always replaced as a whole; undefined for a file that is missing, too large or out of reach. */
function stampOf(path: string): string | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
    if (stats === undefined || stats.size > MAX_REMEMBERED_BYTES) return undefined;
    return [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(' ');
  } catch {
    // Its reader says why.
    return undefined;
  }
}
