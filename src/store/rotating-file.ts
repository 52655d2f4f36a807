import { lstatSync } from 'node:fs';
import { constants, open, rename, type FileHandle } from 'node:fs/promises';
import { systemClock, type Clock } from '../base/clock.js';
import { systemCodeOf } from '../base/errors.js';
import { Emitter } from '../base/event.js';
import type { Disposable } from '../base/lifecycle.js';

/** Entries are copied into blocks; each is one write. */
const BLOCK_BYTES = 256 * 1024;
const SPARE_BLOCKS = 4;
/** Above this the source should pause; it goes on at `onDrain`, below the lower mark. */
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

/** Whole entries that go into one file. */
interface Block {
  readonly bytes: Buffer;
  length: number;
  /** The file before this block becomes `path.1`. */
  readonly rotates: boolean;
  /** The block is the first of its file, and holds the header. */
  readonly begins: boolean;
}

/**
 * An append-only file of bounded size. Entries are written whole, in order, in the background. `write` never throws and never
 * waits. When the disk fails, output is lost and counted, and the task goes on.
 */
export class RotatingFile {
  readonly #path: string;
  readonly #halfBytes: number;
  readonly #mode: number;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #header: (() => string) | undefined;
  readonly #drain = new Emitter<void>();
  /** Oldest first; the last one is being filled, unless it is being written. */
  #queue: Block[] = [];
  #writing: Block | undefined;
  readonly #spare: Buffer[] = [];
  #rotatesNext = false;
  #queuedBytes = 0;
  /** The size of `path` once everything queued is written. */
  #plannedBytes: number;
  /** The size of `path` up to its last whole entry. */
  #writtenBytes = 0;
  #handle: FileHandle | undefined;
  #running: Promise<void> | undefined;
  #retry: Disposable | undefined;
  #isFull = false;
  #rotatedFor: Block | undefined;
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
    this.#plannedBytes = sizeOfFile(options.path);
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
      this.#rotatesNext = true;
      this.#plannedBytes = 0;
    }
    if (this.#plannedBytes === 0 && this.#header) this.#append(Buffer.from(this.#header()));
  }

  /** Appends one entry, which is never divided over two files. `data` is copied. */
  write(data: string | Uint8Array): void {
    const entry = typeof data === 'string' ? Buffer.from(data) : data;
    if (entry.length === 0) return;
    if (this.#closed || entry.length > this.#halfBytes) {
      this.#lostBytes += entry.length;
      return;
    }
    this.makeRoom(entry.length);
    this.#append(entry);
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

  #append(entry: Uint8Array): void {
    const block = this.#blockFor(entry.length);
    block.bytes.set(entry, block.length);
    block.length += entry.length;
    this.#queuedBytes += entry.length;
    this.#plannedBytes += entry.length;
    if (!this.#retry && this.#queuedBytes > HIGH_WATER_BYTES) this.#isFull = true;
  }

  #blockFor(bytes: number): Block {
    const last = this.#queue.at(-1);
    const hasRoom = last !== undefined && last !== this.#writing && last.length + bytes <= last.bytes.length;
    if (hasRoom && !this.#rotatesNext) return last;
    const spare = bytes <= BLOCK_BYTES ? this.#spare.pop() : undefined;
    const block = {
      bytes: spare ?? Buffer.allocUnsafeSlow(Math.max(bytes, BLOCK_BYTES)),
      length: 0,
      rotates: this.#rotatesNext,
      begins: this.#plannedBytes === 0,
    };
    this.#rotatesNext = false;
    this.#queue.push(block);
    return block;
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
        await this.#writeFirst();
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

  /** The block stays in the queue until it is in the file. */
  async #writeFirst(): Promise<void> {
    const [block] = this.#queue;
    if (!block) return;
    this.#writing = block;
    // A block that failed comes again; its rotation is done by then.
    if (block.rotates && this.#rotatedFor !== block) await this.#rotate(block);
    this.#handle ??= await this.#open();
    await writeAll(this.#handle, block.bytes, block.length);
    this.#writing = undefined;
    this.#queue.shift();
    this.#queuedBytes -= block.length;
    this.#writtenBytes += block.length;
    this.#recycle(block);
  }

  #recycle(block: Block): void {
    if (block.bytes.length === BLOCK_BYTES && this.#spare.length < SPARE_BLOCKS)
      this.#spare.push(block.bytes);
  }

  async #rotate(block: Block): Promise<void> {
    await this.#closeHandle();
    await rename(this.#path, `${this.#path}.1`).catch((thrown: unknown) => {
      // Somebody removed the file: there is nothing to keep.
      if (systemCodeOf(thrown) !== 'ENOENT') throw thrown;
    });
    this.#rotatedFor = block;
    this.#writtenBytes = 0;
    this.#hasOpened = false;
  }

  async #fail(thrown: unknown): Promise<void> {
    this.#errorCount++;
    this.#writing = undefined;
    await this.#closeHandle();
    this.#retry = this.#clock.after(RETRY_MS, () => {
      this.#retry = undefined;
      this.#run();
    });
    this.#dropOldest();
    this.#tellDrain();
    this.#onError(thrown);
  }

  /** The newest is kept, in whole blocks; a file whose beginning goes gets another one. */
  #dropOldest(): void {
    let rotates = false;
    let begins = false;
    while (this.#queuedBytes > KEPT_WHILE_FAILING_BYTES) {
      const block = this.#queue.shift();
      if (!block) break;
      this.#queuedBytes -= block.length;
      this.#lostBytes += block.length;
      this.#recycle(block);
      rotates ||= block.rotates && this.#rotatedFor !== block;
      begins ||= block.begins;
    }
    if (!begins) return;
    const bytes = Buffer.from(this.#header?.() ?? '');
    this.#queue.unshift({ bytes, length: bytes.length, rotates, begins });
    this.#queuedBytes += bytes.length;
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

/** What is no file, or may not be looked at, is told when it is opened. */
function sizeOfFile(path: string): number {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found?.isFile() ? found.size : 0;
  } catch {
    return 0;
  }
}

/** A write may stop early when the disk is nearly full; the next one then tells why. */
async function writeAll(handle: FileHandle, bytes: Buffer, length: number): Promise<void> {
  for (let at = 0; at < length;) at += (await handle.write(bytes, at, length - at)).bytesWritten;
}
