import {
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  renameSync,
  writeSync,
} from 'node:fs';
import type { Clock } from '../base/clock.js';
import { systemCodeOf } from '../base/errors.js';
import { systemClock } from '../base/system-clock.js';

/** How often a writer checks that its file still exists: writes to a removed file are lost without an error. */
const REMOVAL_CHECK_MS = 1_000;
/** While the disk fails, entries that can wait retry it only after this time; `flush` always does. */
const RETRY_MS = 1_000;
const OWNER_ONLY = 0o600;

/** The files that hold the parts of an append file. */
export interface Parts {
  /** A part is full when an entry would make it longer than this; a longer entry has a part of its own. */
  readonly partBytes: number;
  /** The part that an earlier writer left, to be continued; size 0 if there is none. */
  readonly last: { readonly path: string; readonly size: number };
  /** Lost entries end the part, so that the offset of the next part shows where the gap ends. */
  readonly endsAtGap: boolean;
  /** Prepares a new part that begins at this offset, and returns its path. */
  begin(offset: number): string;
}

/** Two parts of at most `partBytes`: `path` is the current one, and `path.1` the one before. */
export function rotatedPair(path: string, partBytes: number): Parts {
  const found = lstatSync(path, { throwIfNoEntry: false });
  const begin = (): string => {
    // When the file was removed, there is nothing to rotate.
    if (existsSync(path)) renameSync(path, `${path}.1`);
    return path;
  };
  // Anything but a file is reported when it is opened.
  const size = found?.isFile() === true ? found.size : 0;
  return { partBytes, last: { path, size }, endsAtGap: false, begin };
}

export interface AppendFileOptions {
  readonly parts: Parts;
  /** While the disk fails, the newest entries up to this size stay queued, to be written when it works again. */
  readonly keptBytes: number;
  /** The first bytes of every part, or `''`. `goneBytes` were written before the part before it. */
  readonly header?: (goneBytes: number) => string;
  /** Recreates the folder of the parts. May throw. */
  readonly makeFolder?: () => Promise<unknown>;
  /** Called each time writing starts to fail. Must not throw. */
  readonly onError: (error: unknown) => void;
  /** Called when the file was removed while in use; the next `flush` also reports it. Must not throw. */
  readonly onRemoved?: (() => void) | undefined;
  readonly clock?: Clock;
}

interface Entry {
  readonly bytes: Buffer;
  /** The position of its first byte in everything passed to `write`. */
  readonly offset: number;
}

/** `removed`: the file was removed while in use; the next entry recreates it. */
export type FlushResult = 'written' | 'removed' | 'failing';

/**
 * An append-only file of bounded size, in parts of which the oldest are dropped. An entry is in the file when `write` returns, and
 * is never split between parts. While the disk fails, entries wait, the oldest are lost and counted, and the rest is written when
 * the disk works again. A removed file is recreated.
 */
export class AppendFile {
  readonly #options: AppendFileOptions;
  readonly #clock: Clock;
  /** What the disk has not taken, oldest first; empty while it works. */
  #queue: Entry[] = [];
  #waitingBytes = 0;
  #endBytes = 0;
  #lostBytes = 0;
  /** The offset behind the last entry on disk. */
  #writtenTo = 0;
  /** The offsets at which the newest part begins and the part before it. */
  #partFrom = 0;
  #previousFrom = 0;
  #path: string;
  /** Of the newest part, up to its last whole entry. */
  #size: number;
  /** The beginning of the newest part, until it is on disk. */
  #header: Buffer | undefined;
  #fd: number | undefined;
  /** Undefined before the newest part was opened. */
  #fileId: { readonly ino: number; readonly dev: number } | undefined;
  #makingFolder: Promise<void> | undefined;
  #isFailing = false;
  #isRemoved = false;
  #isClosed = false;
  #retryAtMs = -Infinity;
  #removalCheckedMs = -Infinity;

  constructor(options: AppendFileOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#path = options.parts.last.path;
    this.#size = options.parts.last.size;
  }

  /** All bytes passed to `write`. */
  get endBytes(): number {
    return this.#endBytes;
  }

  /** The bytes that a failing disk did not take. */
  get lostBytes(): number {
    return this.#lostBytes;
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** True from a failed write until the next successful one. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Begins a new part if an entry of this size would not fit into the current one; while the disk fails it begins with an entry. */
  makeRoom(length: number): void {
    if (this.#queue.length === 0 && !this.#waits) this.#try(() => this.#openFor(length, this.#endBytes));
  }

  write(data: string | Uint8Array): void {
    const bytes = Buffer.from(data);
    if (bytes.length === 0) return;
    const offset = this.#endBytes;
    this.#endBytes += bytes.length;
    if (this.#isClosed) {
      this.#lostBytes += bytes.length;
      return;
    }
    this.#queue.push({ bytes, offset });
    this.#waitingBytes += bytes.length;
    if (this.#waits) this.#dropOldest(this.#options.keptBytes);
    else this.#writeAll();
  }

  /** Tries to write what waits. */
  async flush(): Promise<FlushResult> {
    this.#removalCheckedMs = -Infinity;
    if (this.#makingFolder === undefined) this.#writeAll();
    await this.#makingFolder;
    if (this.#isFailing) return 'failing';
    const isRemoved = this.#isRemoved;
    this.#isRemoved = false;
    return isRemoved ? 'removed' : 'written';
  }

  /** Flushes and closes the file. The next entry opens it again. */
  async release(): Promise<void> {
    await this.flush();
    this.#closeFile();
  }

  /** Flushes, syncs and closes the file. Later entries are lost. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
    this.#dropOldest(0);
    try {
      if (this.#fd !== undefined) fdatasyncSync(this.#fd);
    } catch (error) {
      this.#options.onError(error);
    }
    this.#closeFile();
  }

  get #waits(): boolean {
    return this.#makingFolder !== undefined || this.#clock.monotonicMs() < this.#retryAtMs;
  }

  #writeAll(): void {
    this.#try(() => {
      for (let entry = this.#queue[0]; entry !== undefined; entry = this.#queue[0]) {
        const { bytes, offset } = entry;
        this.#append(this.#openFor(bytes.length, offset), bytes);
        this.#writtenTo = offset + bytes.length;
        this.#take();
      }
    });
  }

  #try(act: () => void): void {
    try {
      this.#checkRemoved();
      act();
      this.#isFailing = false;
      this.#retryAtMs = -Infinity;
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The part for an entry, with its header on disk. */
  #openFor(length: number, offset: number): number {
    const { parts, header } = this.#options;
    const isFull = this.#size > 0 && this.#size + length > parts.partBytes;
    const isGap = parts.endsAtGap && offset !== this.#writtenTo;
    if (isFull || isGap || this.#path === '') {
      this.#closeFile();
      this.#path = parts.begin(offset);
      this.#startOver();
      this.#previousFrom = this.#partFrom;
      this.#partFrom = offset;
    }
    const fd = (this.#fd ??= this.#open());
    if (this.#size === 0) {
      this.#header ??= Buffer.from(header?.(this.#previousFrom) ?? '');
      this.#append(fd, this.#header);
    }
    return fd;
  }

  #append(fd: number, bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
    this.#size += bytes.length;
  }

  #take(): number {
    const length = this.#queue.shift()?.bytes.length ?? 0;
    this.#waitingBytes -= length;
    return length;
  }

  /** The next entry is the first of its file. */
  #startOver(): void {
    this.#fileId = undefined;
    this.#size = 0;
    this.#header = undefined;
  }

  #open(): number {
    const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
    // Do not follow links or block on a FIFO: the agent may be able to write to the folder.
    const fd = openSync(this.#path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, OWNER_ONLY);
    this.#fd = fd;
    const { size, ino, dev } = fstatSync(fd);
    // Bytes behind the last whole entry are the torn end of a failed write.
    if (this.#fileId !== undefined && size > this.#size) ftruncateSync(fd, this.#size);
    else this.#size = size;
    this.#fileId = { ino, dev };
    return fd;
  }

  /** When the file was removed, the queued entries go into a new one. */
  #checkRemoved(): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#fileId === undefined || nowMs - this.#removalCheckedMs < REMOVAL_CHECK_MS) return;
    this.#removalCheckedMs = nowMs;
    const found = lstatSync(this.#path, { throwIfNoEntry: false });
    if (found?.ino === this.#fileId.ino && found.dev === this.#fileId.dev) return;
    this.#closeFile();
    this.#startOver();
    this.#writtenTo = -1;
    this.#isRemoved = true;
    // Later: the listener may write to this file.
    queueMicrotask(() => this.#options.onRemoved?.());
  }

  #fail(error: unknown): void {
    const { makeFolder, keptBytes, onError } = this.#options;
    if (systemCodeOf(error) === 'ENOENT' && makeFolder !== undefined && this.#makingFolder === undefined) {
      const again = (): void => this.#writeAll();
      const failed = (why: unknown): void => this.#fail(why);
      this.#makingFolder = makeFolder()
        .then(again, failed)
        .finally(() => (this.#makingFolder = undefined));
      return;
    }
    // Later: the listener may write to this file.
    if (!this.#isFailing) queueMicrotask(() => onError(error));
    this.#isFailing = true;
    if (keptBytes > 0) this.#retryAtMs = this.#clock.monotonicMs() + RETRY_MS;
    try {
      if (this.#fd !== undefined) ftruncateSync(this.#fd, this.#size);
    } catch {
      // `#open` truncates again.
    }
    this.#closeFile();
    this.#dropOldest(keptBytes);
  }

  #dropOldest(keptBytes: number): void {
    while (this.#waitingBytes > keptBytes) this.#lostBytes += this.#take();
  }

  #closeFile(): void {
    try {
      if (this.#fd !== undefined) closeSync(this.#fd);
    } catch {
      // Nothing can be done about a close that fails (on a network disk).
    }
    this.#fd = undefined;
  }
}
