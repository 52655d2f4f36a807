import { statSync } from 'node:fs';
import { z } from 'zod';
import { problemsOf, readJsonFile } from '../../base/files/json-file.js';
import type { StateDir } from '../../store/state-dir.js';
import { isFinal, taskRecordSchema, type TaskRecord } from '../task.js';

/** A record is parsed in one go. Its parts are bounded, so that it stays far below. */
export const MAX_RECORD_BYTES = 16 * 1024 * 1024;
/** With so many of at most this size the memory stays below a hundred megabytes; others are read each time. */
const MAX_REMEMBERED = 2_000;
const MAX_REMEMBERED_BYTES = 32_768;

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

/**
 * Reads records, those of ended tasks once for each change of their file: to read and check one takes a fifth of a millisecond, to see
 * whether it changed a fiftieth of that, and a page that is open reads all of them each second.
 */
export class RecordFiles {
  readonly #stateDir: StateDir;
  readonly #ended = new Map<string, { readonly stamp: string; readonly file: RecordFile }>();

  constructor(stateDir: StateDir) {
    this.#stateDir = stateDir;
  }

  /** As `readRecordFile`. */
  async read(taskId: string): Promise<RecordFile> {
    const stamp = stampOf(this.#stateDir.recordFile(taskId));
    const known = this.#ended.get(taskId);
    if (stamp !== undefined && known?.stamp === stamp) return known.file;
    this.#ended.delete(taskId);
    const file = await readRecordFile(this.#stateDir, taskId);
    // What was written since the stamp was taken has another one.
    const isRemembered = stamp !== undefined && this.#ended.size < MAX_REMEMBERED;
    if (isRemembered && file.state === 'ok' && isFinal(file.record.status))
      this.#ended.set(taskId, { stamp, file });
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
