import { constants } from 'node:fs';
import { open, rename, stat, type FileHandle } from 'node:fs/promises';
import type { Clock } from '../base/clock.js';
import { BridgeError, messageOf, systemCodeOf } from '../base/errors.js';
import { journalLine, type JournalFields } from './journal-line.js';
import { lastSeqOf, olderJournal } from './journal-reader.js';

export interface JournalOptions {
  /** Both files together stay below this, give or take one write. */
  readonly maxBytes: number;
  readonly clock: Clock;
  /** Told of each failed write and each lost event; lines are kept and tried again with the next one. */
  readonly onError: (fault: BridgeError) => void;
}

const OWNER_ONLY = 0o600;
/** Lines that wait for a disk that does not take them; beyond it the newest are dropped, which leaves a gap in `seq`. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** One write; many small lines share it. */
const MAX_WRITE_BYTES = 256 * 1024;
/** How often a writer makes sure that its file still has its name: what is written to a removed one is lost unseen. */
const LOOK_INTERVAL_MS = 1_000;

/**
 * The writer of a task's journal: one event a line, numbered from 1. There is one writer a journal, its keeper. When the
 * file reaches half of `maxBytes` it becomes `<path>.1` in place of the one before, and a new one goes on with the numbers.
 */
export class Journal {
  readonly #path: string;
  readonly #options: JournalOptions;
  #file: FileHandle;
  #size: number;
  #lastSeq: number;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #lostEvents = 0;
  #isFailing = false;
  #lookedMs = 0;

  private constructor(
    path: string,
    options: JournalOptions,
    file: FileHandle,
    size: number,
    lastSeq: number,
  ) {
    this.#path = path;
    this.#options = options;
    this.#file = file;
    this.#size = size;
    this.#lastSeq = lastSeq;
  }

  /**
   * Opens a journal for writing, making it when it is missing. An existing one is continued; a last line that a crash left
   * without its end is cut off. Throws BridgeError STATE_UNUSABLE.
   */
  static async open(path: string, options: JournalOptions): Promise<Journal> {
    let file: FileHandle | undefined;
    try {
      file = await openForWriting(path);
      if (!(await file.stat()).isFile()) throw new Error('it is not a regular file');
      const own = await lastSeqOf(file);
      await file.truncate(own.endOfLines);
      const lastSeq = own.seq ?? (await lastSeqOfOlder(path));
      return new Journal(path, options, file, own.endOfLines, lastSeq);
    } catch (fault) {
      await file?.close();
      throw unwritable(path, fault);
    }
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Events that are in no file, because too much waited for the disk, or because the journal was closed. */
  get lostEvents(): number {
    return this.#lostEvents;
  }

  /** The last write failed; what waits is tried again by the next one. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Queues one event and returns its number. Never throws and never waits; a closed journal only counts. */
  append(type: string, fields: JournalFields = {}): number {
    const seq = ++this.#lastSeq;
    const line = Buffer.from(
      journalLine(seq, new Date(this.#options.clock.now()).toISOString(), type, fields),
    );
    if (this.#closing !== undefined || this.#waitingBytes + line.length > MAX_WAITING_BYTES) {
      const why = this.#closing !== undefined ? 'the journal is closed' : 'too much waits for the disk';
      this.#lostEvents++;
      this.#options.onError(unwritable(this.#path, new Error(`event ${seq} is lost: ${why}`)));
      return seq;
    }
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
    this.#writing ??= this.#writeAll();
    return seq;
  }

  /** Resolves when all that was appended is written or has failed (told to `onError`, kept for the next try). */
  async flush(): Promise<void> {
    this.#writing ??= this.#writeAll();
    await this.#writing;
  }

  /** Writes what waits, makes it durable and closes the file. Twice is harmless. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    await this.flush();
    try {
      await this.#file.datasync();
    } catch (fault) {
      this.#options.onError(unwritable(this.#path, fault));
    }
    try {
      await this.#file.close();
    } catch (fault) {
      this.#options.onError(unwritable(this.#path, fault));
    }
  }

  async #writeAll(): Promise<void> {
    // Events of the same tick share a write.
    await Promise.resolve();
    try {
      while (this.#waiting.length > 0) {
        await this.#lookAtPlace();
        await this.#writeSome();
        if (this.#size >= this.#options.maxBytes / 2) await this.#rotate();
      }
      this.#isFailing = false;
    } catch (fault) {
      this.#isFailing = true;
      this.#options.onError(unwritable(this.#path, fault));
    } finally {
      this.#writing = undefined;
    }
  }

  /** When the file was removed under us, the journal goes on in a new one; the numbers tell that some are gone. */
  async #lookAtPlace(): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    if (!this.#isFailing && nowMs - this.#lookedMs < LOOK_INTERVAL_MS) return;
    this.#lookedMs = nowMs;
    const { ino, dev } = await this.#file.stat();
    const place = await stat(this.#path).catch((fault: unknown) => {
      if (systemCodeOf(fault) === 'ENOENT') return undefined;
      throw fault;
    });
    if (place?.ino === ino && place.dev === dev) return;
    const before = this.#file;
    this.#file = await openForWriting(this.#path);
    this.#size = (await lastSeqOf(this.#file)).endOfLines;
    await before.close();
  }

  async #writeSome(): Promise<void> {
    const limit = Math.min(MAX_WRITE_BYTES, this.#options.maxBytes / 4);
    let count = 0;
    let length = 0;
    for (const line of this.#waiting) {
      if (count > 0 && length + line.length > limit) break;
      count += 1;
      length += line.length;
    }
    const bytes = Buffer.concat(this.#waiting.slice(0, count), length);
    // At a stated position: what a full disk took of a failed write is overwritten by the next try.
    for (let done = 0; done < length;) {
      const { bytesWritten } = await this.#file.write(bytes, done, length - done, this.#size + done);
      done += bytesWritten;
    }
    this.#size += length;
    this.#waiting = this.#waiting.slice(count);
    this.#waitingBytes -= length;
  }

  async #rotate(): Promise<void> {
    // Opened before anything is moved: when that fails, the journal goes on in the file it has.
    const next = `${this.#path}.next`;
    const file = await openForWriting(next);
    try {
      await rename(this.#path, olderJournal(this.#path)).catch((fault: unknown) => {
        // Moved already by a try whose second rename failed.
        if (systemCodeOf(fault) !== 'ENOENT') throw fault;
      });
      await rename(next, this.#path);
    } catch (fault) {
      await file.close();
      throw fault;
    }
    const before = this.#file;
    this.#file = file;
    this.#size = 0;
    await before.close();
  }
}

function openForWriting(path: string): Promise<FileHandle> {
  const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  return open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, OWNER_ONLY);
}

async function lastSeqOfOlder(path: string): Promise<number> {
  let older: FileHandle;
  try {
    older = await open(olderJournal(path), constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    // There is none, or it cannot be read: the numbers begin anew.
    return 0;
  }
  try {
    return (await lastSeqOf(older)).seq ?? 0;
  } finally {
    await older.close();
  }
}

function unwritable(path: string, fault: unknown): BridgeError {
  return new BridgeError(
    'STATE_UNUSABLE',
    `Cannot write the journal ${path}: ${messageOf(fault)}`,
    'Make room on the disk of the state directory, and check that it is yours and writable.',
    { cause: fault },
  );
}
