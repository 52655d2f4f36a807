import { statSync } from 'node:fs';
import type { StateDir } from '../../store/state-dir.js';
import { isFinal } from '../task.js';
import { readRecordFile, type RecordFile } from './record-file.js';

/** With so many of at most this size the memory stays below a hundred megabytes; others are read each time. */
const MAX_REMEMBERED = 2_000;
const MAX_REMEMBERED_BYTES = 32_768;

/**
 * Reads records, those of ended tasks once for each change of their file: to read and check one takes a fifth of a millisecond, to look
 * whether it changed a fiftieth of that, and a page that is open looks at all of them each second.
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
