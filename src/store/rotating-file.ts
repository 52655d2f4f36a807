import { lstatSync } from 'node:fs';
import { constants, open, rename, type FileHandle } from 'node:fs/promises';
import { systemClock, type Clock } from '../base/clock.js';
import { systemCodeOf } from '../base/errors.js';
import { Emitter } from '../base/event.js';
import type { Disposable } from '../base/lifecycle.js';

/** One write takes at most so much, and so many pieces (IOV_MAX is 1024). */
const BATCH_BYTES = 1024 * 1024;
const BATCH_PIECES = 512;
/** Above this the source should pause; below the lower mark `onDrain` tells it to go on. */
const HIGH_WATER_BYTES = 4 * 1024 * 1024;
const LOW_WATER_BYTES = 1024 * 1024;
/** A full disk is tried again so often; meanwhile the newest of this much is kept for it. */
const RETRY_MS = 1000;
const KEPT_WHILE_FAILING_BYTES = 1024 * 1024;

export interface RotatingFileOptions {
  readonly path: string;
  /** `path` and `path.1` together hold at most so much: when one half is full, it becomes `path.1`. */
  readonly maxBytes: number;
  /** Of new files. */
  readonly mode?: number;
  /** Told each time that writing begins to fail. Must not throw. */
  readonly onError: (error: unknown) => void;
  /** The first bytes of every new file. */
  readonly header?: () => string;
  readonly clock?: Clock;
}

type Entry = Buffer | 'rotate';

/**
 * An append-only file of bounded size. Entries are written whole, in order, in the background; `write` never throws and
 * never waits. When the disk fails, output is lost and counted, and the task goes on.
 */
export class RotatingFile {
  readonly #path: string;
  readonly #halfBytes: number;
  readonly #mode: number;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #header: (() => string) | undefined;
  readonly #drain = new Emitter<void>();
  #queue: Entry[] = [];
  #queuedBytes = 0;
  /** The size of `path` once everything queued is written. */
  #plannedBytes: number;
  /** The size of `path` up to its last whole entry. */
  #writtenBytes = 0;
  #handle: FileHandle | undefined;
  #running: Promise<void> | undefined;
  #retry: Disposable | undefined;
  #isFull = false;
  /** This file was opened before: what lies behind `#writtenBytes` is the torn end of a failed write. */
  #hasOpened = false;
  #closed = false;
  #lostBytes = 0;
  #errorCount = 0;

  constructor(options: RotatingFileOptions) {
    this.#path = options.path;
    this.#halfBytes = Math.floor(options.maxBytes / 2);
    this.#mode = options.mode ?? 0o600;
    this.#clock = options.clock ?? systemClock;
    this.#onError = options.onError;
    this.#header = options.header;
    this.#plannedBytes = lstatSync(options.path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Bytes that wait to be written; none while the disk fails, because waiting would not help. */
  get pendingBytes(): number {
    return this.#retry ? 0 : this.#queuedBytes;
  }

  /** So much waits that the source should pause until `onDrain`. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** After `isFull`, when enough has been written (or has been given up). */
  get onDrain() {
    return this.#drain.event;
  }

  /** Bytes given to `write` that are in no file, because the disk failed or one entry was larger than half the bound. */
  get lostBytes(): number {
    return this.#lostBytes;
  }

  get errorCount(): number {
    return this.#errorCount;
  }

  /** Begins a new file now when an entry of so many bytes would not fit into this one. */
  makeRoom(bytes: number): void {
    if (this.#plannedBytes > 0 && this.#plannedBytes + bytes > this.#halfBytes) {
      this.#queue.push('rotate');
      this.#plannedBytes = 0;
    }
    if (this.#plannedBytes === 0 && this.#header) this.#push(Buffer.from(this.#header()));
  }

  /** Appends one entry, which is never divided over two files. */
  write(data: string | Uint8Array): void {
    const entry =
      typeof data === 'string' ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.length);
    if (entry.length === 0) return;
    if (this.#closed || entry.length > this.#halfBytes) {
      this.#lostBytes += entry.length;
      return;
    }
    this.makeRoom(entry.length);
    this.#push(entry);
    if (this.#retry) this.#dropOldest();
    else this.#run();
  }

  /** Resolves when everything written so far is in the file, or lost. */
  async flush(): Promise<void> {
    this.#retry?.dispose();
    this.#retry = undefined;
    this.#run();
    await this.#running;
  }

  /** Flushes and closes; what is written later is lost. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.flush();
    this.#retry?.dispose();
    this.#retry = undefined;
    this.#lostBytes += this.#queuedBytes;
    this.#queue = [];
    this.#queuedBytes = 0;
    await this.#closeHandle();
    this.#tellDrain();
    this.#drain.dispose();
  }

  #push(entry: Buffer): void {
    this.#queue.push(entry);
    this.#queuedBytes += entry.length;
    this.#plannedBytes += entry.length;
    if (!this.#retry && this.#queuedBytes > HIGH_WATER_BYTES) this.#isFull = true;
  }

  #run(): void {
    if (this.#running || this.#queue.length === 0) return;
    this.#running = this.#writeAll().finally(() => {
      this.#running = undefined;
    });
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#queue.length > 0) {
        this.#handle ??= await this.#open();
        if (this.#queue[0] === 'rotate') await this.#rotate();
        else await this.#writeBatch(this.#handle);
        if (this.#queuedBytes <= LOW_WATER_BYTES) this.#tellDrain();
      }
    } catch (thrown) {
      await this.#fail(thrown);
    }
  }

  async #open(): Promise<FileHandle> {
    const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
    // No link is followed, and a FIFO does not block: the folder may be one that the agent can write to.
    const handle = await open(
      this.#path,
      O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK,
      this.#mode,
    );
    const { size } = await handle.stat();
    if (this.#hasOpened && size > this.#writtenBytes) await handle.truncate(this.#writtenBytes);
    else this.#writtenBytes = size;
    this.#hasOpened = true;
    return handle;
  }

  async #rotate(): Promise<void> {
    await this.#closeHandle();
    await rename(this.#path, `${this.#path}.1`).catch((thrown: unknown) => {
      // Somebody removed the file: there is nothing to keep.
      if (systemCodeOf(thrown) !== 'ENOENT') throw thrown;
    });
    this.#queue.shift();
    this.#hasOpened = false;
    this.#writtenBytes = 0;
  }

  /** Entries stay in the queue until they are in the file. */
  async #writeBatch(handle: FileHandle): Promise<void> {
    const batch: Buffer[] = [];
    let bytes = 0;
    for (const entry of this.#queue) {
      if (
        entry === 'rotate' ||
        batch.length === BATCH_PIECES ||
        (bytes > 0 && bytes + entry.length > BATCH_BYTES)
      )
        break;
      batch.push(entry);
      bytes += entry.length;
    }
    const { bytesWritten } = await handle.writev(batch);
    if (bytesWritten < bytes) await writeRest(handle, Buffer.concat(batch), bytesWritten);
    this.#queue.splice(0, batch.length);
    this.#queuedBytes -= bytes;
    this.#writtenBytes += bytes;
  }

  async #fail(thrown: unknown): Promise<void> {
    this.#errorCount++;
    await this.#closeHandle();
    this.#retry = this.#clock.after(RETRY_MS, () => {
      this.#retry = undefined;
      this.#run();
    });
    this.#dropOldest();
    this.#tellDrain();
    this.#onError(thrown);
  }

  #dropOldest(): void {
    let at = 0;
    while (this.#queuedBytes > KEPT_WHILE_FAILING_BYTES && at < this.#queue.length) {
      const entry = this.#queue[at];
      if (entry !== undefined && entry !== 'rotate') {
        this.#queuedBytes -= entry.length;
        this.#lostBytes += entry.length;
        this.#queue.splice(at, 1);
      } else at++;
    }
  }

  #tellDrain(): void {
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#drain.fire();
  }

  async #closeHandle(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    // A close that fails (a network disk) leaves nothing that could still be done.
    await handle?.close().catch(() => undefined);
  }
}

/** `writev` may stop early when the disk is nearly full; the next write then tells why. */
async function writeRest(handle: FileHandle, bytes: Buffer, from: number): Promise<void> {
  for (let at = from; at < bytes.length;)
    at += (await handle.write(bytes, at, bytes.length - at)).bytesWritten;
}
