import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import type { Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { AppendFile, rotatedPair, type FlushResult } from './append-file.js';
import { journalLine, type JournalFields } from './journal-line.js';
import { lastSeqOf } from './journal-reader.js';

export interface JournalOptions {
  /** The bound of both files together, give or take one line. */
  readonly maxBytes: number;
  readonly clock: Clock;
  /** Called when writing starts to fail, and for each lost event; other lines wait and are retried. */
  readonly onError: (error: BridgeError) => void;
  /** Called when the journal was removed while in use. Must not throw. */
  readonly onRemoved?: () => void;
}

const OWNER_ONLY = 0o600;
/** The most that may wait for a failing disk; beyond it, new lines are dropped, which leaves a gap in `seq`. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

/**
 * Writes a task's journal: one event per line, numbered from 1. The keeper is the only writer. When the file reaches half of
 * `maxBytes`, it replaces `<path>.1`, and a new file continues the numbers.
 */
export class Journal {
  readonly #path: string;
  readonly #options: JournalOptions;
  readonly #file: AppendFile;
  #lastSeq: number;
  #closing: Promise<void> | undefined;
  #lostEvents = 0;

  private constructor(path: string, options: JournalOptions, lastSeq: number) {
    const { maxBytes, clock, onError, onRemoved } = options;
    this.#path = path;
    this.#options = options;
    this.#lastSeq = lastSeq;
    this.#file = new AppendFile({
      parts: rotatedPair(path, Math.floor(maxBytes / 2)),
      keptBytes: MAX_WAITING_BYTES,
      clock,
      onError: (error) => onError(unwritable(path, error)),
      onRemoved,
    });
  }

  /**
   * Opens a journal for writing, or creates it. An existing one is continued; an incomplete last line, which a crash may leave, is
   * cut off. Throws BridgeError STATE_UNUSABLE.
   */
  static async open(path: string, options: JournalOptions): Promise<Journal> {
    const { O_RDWR, O_RDONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
    const files: FileHandle[] = [];
    try {
      const file = await open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, OWNER_ONLY);
      files.push(file);
      if (!(await file.stat()).isFile()) throw new Error('it is not a regular file');
      const own = await lastSeqOf(file);
      await file.truncate(own.endOfLines);
      if (own.seq !== undefined) return new Journal(path, options, own.seq);
      // Missing or unreadable: the numbers start over.
      const older = await open(`${path}.1`, O_RDONLY | O_NONBLOCK).catch(() => undefined);
      if (older !== undefined) files.push(older);
      return new Journal(path, options, (older && (await lastSeqOf(older)).seq) ?? 0);
    } catch (error) {
      throw unwritable(path, error);
    } finally {
      for (const file of files) await file.close();
    }
  }

  /** Events that were not written, because too much waited for the disk, or because the journal was closed. */
  get lostEvents(): number {
    return this.#lostEvents;
  }

  /** The last write failed; the lines that wait are retried. */
  get isFailing(): boolean {
    return this.#file.isFailing;
  }

  /** Writes one event and returns its number. Never throws; after `close` the event is counted as lost. */
  append(type: string, fields: JournalFields = {}): number {
    const seq = ++this.#lastSeq;
    const at = new Date(this.#options.clock.now()).toISOString();
    const line = Buffer.from(journalLine(seq, at, type, fields));
    const isFull = this.#file.waitingBytes + line.length > MAX_WAITING_BYTES;
    if (this.#closing === undefined && !isFull) {
      this.#file.write(line);
      return seq;
    }
    const why = this.#closing === undefined ? 'too much waits for the disk' : 'the journal is closed';
    this.#lostEvents++;
    this.#options.onError(unwritable(this.#path, new Error(`event ${seq} is lost: ${why}`)));
    return seq;
  }

  /** Tries to write what waits. */
  flush(): Promise<FlushResult> {
    return this.#file.flush();
  }

  /** Writes what waits, syncs the file and closes it. Closing twice is harmless. */
  close(): Promise<void> {
    return (this.#closing ??= this.#file.close());
  }
}

function unwritable(path: string, error: unknown): BridgeError {
  return new BridgeError(
    'STATE_UNUSABLE',
    `Cannot write the journal ${path}: ${messageOf(error)}`,
    'Free space on the disk of the state directory, and check that the directory belongs to you and is writable.',
    { cause: error },
  );
}
