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
  /** While the disk fails, entries retry it only after this time; `flush` always does. */
  readonly retryMs?: number;
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
  /** The position of its first byte in everything ever written. */
  readonly offset: number;
  /** It is the first entry of its part: the header, if there is one. */
  isFirst: boolean;
  /** `Parts.begin` must be called before it is written. */
  begins: boolean;
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
  #queuedBytes = 0;
  #endBytes = 0;
  #lostBytes = 0;
  /** The size of the newest part once everything queued is written. */
  #plannedBytes: number;
  #beginsNext: boolean;
  /** The positions at which the newest part begins and the part before it. */
  #partFrom = 0;
  #previousFrom = 0;
  #path: string;
  #fd: number | undefined;
  #fileId: { readonly ino: number; readonly dev: number } | undefined;
  /** The size of the newest part up to its last whole entry; undefined before it is opened. */
  #writtenBytes: number | undefined;
  #makingFolder: Promise<void> | undefined;
  #isFailing = false;
  #isRemoved = false;
  #isClosed = false;
  #retryAtMs = -Infinity;
  #removalCheckedMs = -Infinity;

  constructor(options: AppendFileOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const { path, size } = options.parts.last;
    this.#path = path;
    this.#plannedBytes = size;
    this.#beginsNext = path === '';
  }

  /** All bytes passed to `write`, and those of headers. */
  get endBytes(): number {
    return this.#endBytes;
  }

  /** The bytes that a failing disk did not take. */
  get lostBytes(): number {
    return this.#lostBytes;
  }

  get waitingBytes(): number {
    return this.#queuedBytes;
  }

  /** True from a failed write until the next successful one. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Begins a new part if an entry of this size would not fit into the current one. */
  makeRoom(bytes: number): void {
    if (this.#plannedBytes > 0 && this.#plannedBytes + bytes > this.#options.parts.partBytes) {
      this.#beginsNext = true;
      this.#plannedBytes = 0;
      this.#previousFrom = this.#partFrom;
      this.#partFrom = this.#endBytes;
    }
    const header = this.#plannedBytes === 0 ? this.#header() : undefined;
    if (header !== undefined) this.#enqueue(header);
  }

  write(data: string | Uint8Array): void {
    const bytes = Buffer.from(data);
    if (bytes.length === 0) return;
    if (this.#isClosed) {
      this.#endBytes += bytes.length;
      this.#lostBytes += bytes.length;
      return;
    }
    this.makeRoom(bytes.length);
    this.#enqueue(bytes);
    const waits = this.#makingFolder !== undefined || this.#clock.monotonicMs() < this.#retryAtMs;
    if (waits) this.#dropOldest();
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
    this.#lostBytes += this.#queuedBytes;
    this.#queuedBytes = 0;
    this.#queue = [];
    try {
      if (this.#fd !== undefined) fdatasyncSync(this.#fd);
    } catch (error) {
      this.#options.onError(error);
    }
    this.#closeFile();
  }

  #header(): Buffer | undefined {
    const text = this.#options.header?.(this.#previousFrom) ?? '';
    return text === '' ? undefined : Buffer.from(text);
  }

  #enqueue(bytes: Buffer): void {
    const isFirst = this.#plannedBytes === 0;
    this.#queue.push({ bytes, offset: this.#endBytes, isFirst, begins: this.#beginsNext });
    this.#beginsNext = false;
    this.#endBytes += bytes.length;
    this.#plannedBytes += bytes.length;
    this.#queuedBytes += bytes.length;
  }

  #writeAll(): void {
    try {
      this.#checkRemoved();
      for (let entry = this.#queue[0]; entry !== undefined; entry = this.#queue[0]) {
        if (entry.begins) this.#beginPart(entry);
        this.#fd ??= this.#open();
        for (let at = 0; at < entry.bytes.length;) at += writeSync(this.#fd, entry.bytes, at);
        this.#writtenBytes = (this.#writtenBytes ?? 0) + entry.bytes.length;
        this.#take();
      }
      this.#isFailing = false;
      this.#retryAtMs = -Infinity;
    } catch (error) {
      this.#fail(error);
    }
  }

  #take(): Entry | undefined {
    const entry = this.#queue.shift();
    this.#queuedBytes -= entry?.bytes.length ?? 0;
    return entry;
  }

  #beginPart(entry: Entry): void {
    this.#closeFile();
    this.#path = this.#options.parts.begin(entry.offset);
    entry.begins = false;
    this.#fileId = undefined;
    this.#writtenBytes = undefined;
  }

  #open(): number {
    const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
    // Do not follow links or block on a FIFO: the agent may be able to write to the folder.
    const fd = openSync(this.#path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, OWNER_ONLY);
    this.#fd = fd;
    const { size, ino, dev } = fstatSync(fd);
    this.#fileId = { ino, dev };
    // Bytes behind the last whole entry are the torn end of a failed write.
    if (this.#writtenBytes !== undefined && size > this.#writtenBytes) ftruncateSync(fd, this.#writtenBytes);
    else this.#writtenBytes = size;
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
    this.#isRemoved = true;
    this.#fileId = undefined;
    this.#writtenBytes = undefined;
    this.#restartPart(this.#options.parts.endsAtGap);
    // Later: the listener may write to this file.
    queueMicrotask(() => this.#options.onRemoved?.());
  }

  #fail(error: unknown): void {
    const { makeFolder, retryMs = 0, onError } = this.#options;
    if (systemCodeOf(error) === 'ENOENT' && makeFolder !== undefined && this.#makingFolder === undefined) {
      const again = (): void => this.#writeAll();
      const failed = (why: unknown): void => this.#fail(why);
      this.#makingFolder = makeFolder()
        .then(again, failed)
        .finally(() => (this.#makingFolder = undefined));
      return;
    }
    const isNew = !this.#isFailing;
    this.#isFailing = true;
    this.#retryAtMs = this.#clock.monotonicMs() + retryMs;
    try {
      if (this.#fd !== undefined && this.#writtenBytes !== undefined)
        ftruncateSync(this.#fd, this.#writtenBytes);
    } catch {
      // `#open` truncates again.
    }
    this.#closeFile();
    this.#dropOldest();
    // Later: the listener may write to this file.
    if (isNew) queueMicrotask(() => onError(error));
  }

  #dropOldest(): void {
    let isNewPart = false;
    let isHeaderLost = false;
    while (this.#queuedBytes > this.#options.keptBytes) {
      const entry = this.#take();
      if (entry === undefined) break;
      this.#lostBytes += entry.bytes.length;
      isNewPart ||= this.#options.parts.endsAtGap || entry.begins;
      isHeaderLost ||= entry.isFirst;
    }
    if (isNewPart || isHeaderLost) this.#restartPart(isNewPart);
  }

  /** Makes the next entry the first of a new part, or the first of the current one once more. */
  #restartPart(isNewPart: boolean): void {
    const [first] = this.#queue;
    if (first === undefined) {
      this.#beginsNext ||= isNewPart;
      this.#plannedBytes = 0;
      return;
    }
    if (first.isFirst) return;
    const header = this.#header();
    if (header === undefined) {
      first.isFirst = true;
      first.begins = isNewPart;
      return;
    }
    this.#queue.unshift({ bytes: header, offset: first.offset, isFirst: true, begins: isNewPart });
    this.#queuedBytes += header.length;
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
