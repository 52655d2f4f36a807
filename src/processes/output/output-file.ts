import { open, rm, type FileHandle } from 'node:fs/promises';
import type { OutputStream } from '../process-backend.js';
import { BLOCK_BYTES, type BlockPool } from './block-pool.js';
import { segmentPath } from './output-segments.js';

/** With more than this unwritten the source waits; it goes on below the lower mark. */
const HIGH_WATER_BYTES = 1024 * 1024;
const LOW_WATER_BYTES = 512 * 1024;
/** The bound is kept by dropping the oldest of so many parts: seven eighths of it are always there. */
const PARTS = 8;
const OWNER_ONLY = 0o600;

export interface OutputFileOptions {
  readonly folder: string;
  readonly stream: OutputStream;
  /** At most so much is kept on disk; of more the oldest is dropped. */
  readonly maxBytes: number;
  readonly pool: BlockPool;
  /** Called each time that writing begins to fail. Must not throw. */
  readonly onError: (fault: unknown) => void;
}

interface Block {
  readonly bytes: Buffer;
  length: number;
}

/**
 * One output stream of a process, in files of which each name tells at what byte of the stream it begins: what is missing
 * between two of them is known to every reader. Bytes are written in the background, in large blocks. A disk that fails costs
 * what was printed meanwhile, and the process goes on.
 */
export class OutputFile {
  readonly #options: OutputFileOptions;
  readonly #partBytes: number;
  /** Oldest first; the last one is being filled, unless it is being written. */
  readonly #queue: Block[] = [];
  #writing: Block | undefined;
  #queuedBytes = 0;
  /** Offset up to which everything is in a file, or lost. */
  #settledTo = 0;
  #lostBytes = 0;
  /** Offsets at which the kept files begin. */
  readonly #starts: number[] = [];
  #handle: FileHandle | undefined;
  #begins = true;
  #isFailing = false;
  #running: Promise<void> | undefined;
  #drained: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  constructor(options: OutputFileOptions) {
    this.#options = options;
    this.#partBytes = Math.max(BLOCK_BYTES, Math.floor(options.maxBytes / PARTS));
  }

  /** Bytes that were printed. */
  get endBytes(): number {
    return this.#settledTo + this.#queuedBytes;
  }

  /** Bytes that are in no file because the disk refused them. */
  get lostBytes(): number {
    return this.#lostBytes;
  }

  /** Copies the bytes. Returns a promise, which never rejects, when the source should wait for the disk. */
  write(bytes: Uint8Array): Promise<void> | undefined {
    for (let at = 0; at < bytes.length;) at += this.#copy(bytes, at);
    this.#running ??= this.#writeAll();
    if (this.#queuedBytes <= HIGH_WATER_BYTES) return this.#drained?.promise;
    return (this.#drained ??= promiseWithResolve()).promise;
  }

  /** Resolves when everything printed so far can be read from the files. */
  async written(): Promise<void> {
    const target = this.endBytes;
    while (this.#settledTo < target && this.#running !== undefined) await this.#running;
  }

  /** Writes out and closes the file; what is printed later opens it again. */
  async close(): Promise<void> {
    await this.written();
    await this.#closeHandle();
  }

  #copy(bytes: Uint8Array, at: number): number {
    const last = this.#queue.at(-1);
    let block = last === this.#writing ? undefined : last;
    if (block === undefined || block.length === block.bytes.length) {
      const rest = bytes.length - at;
      const isMuch = this.#queue.length > 0 || rest >= BLOCK_BYTES;
      block = { bytes: isMuch ? this.#options.pool.take() : Buffer.allocUnsafe(rest), length: 0 };
      this.#queue.push(block);
    }
    const count = Math.min(block.bytes.length - block.length, bytes.length - at);
    block.bytes.set(bytes.subarray(at, at + count), block.length);
    block.length += count;
    this.#queuedBytes += count;
    return count;
  }

  async #writeAll(): Promise<void> {
    for (let block = this.#queue[0]; block !== undefined; block = this.#queue[0]) {
      this.#writing = block;
      const written = await this.#writeBlock(block);
      this.#writing = undefined;
      this.#queue.shift();
      this.#settledTo += block.length;
      this.#queuedBytes -= block.length;
      this.#lostBytes += block.length - written;
      this.#options.pool.give(block.bytes);
      if (this.#queuedBytes <= LOW_WATER_BYTES) {
        this.#drained?.resolve();
        this.#drained = undefined;
      }
    }
    // Not a moment later: what is queued in between would be written by nobody.
    this.#running = undefined;
  }

  /** How much of it is in the file. */
  async #writeBlock(block: Block): Promise<number> {
    let written = 0;
    try {
      const handle = await this.#part(block.length);
      while (written < block.length) {
        const { bytesWritten } = await handle.write(block.bytes, written, block.length - written);
        written += bytesWritten;
      }
      this.#isFailing = false;
    } catch (fault) {
      if (!this.#isFailing) this.#options.onError(fault);
      this.#isFailing = true;
      // What follows begins a file of its own: its name tells where the gap ends.
      this.#begins = true;
      await this.#closeHandle();
    }
    return written;
  }

  /** The file for what comes next; a new one when there is none, or this one is full. */
  async #part(bytes: number): Promise<FileHandle> {
    const current = this.#starts.at(-1);
    const { folder, stream } = this.#options;
    if (current === undefined || this.#isFull(bytes) || this.#begins) {
      await this.#closeHandle();
      await this.#dropOldest();
      this.#handle = await open(segmentPath(folder, stream, this.#settledTo), 'a', OWNER_ONLY);
      if (this.#starts.at(-1) !== this.#settledTo) this.#starts.push(this.#settledTo);
      this.#begins = false;
    }
    // Closed when the process had ended, and something that it left behind prints on.
    this.#handle ??= await open(segmentPath(folder, stream, current ?? this.#settledTo), 'a', OWNER_ONLY);
    return this.#handle;
  }

  #isFull(bytes: number): boolean {
    const current = this.#starts.at(-1);
    return current !== undefined && this.#settledTo + bytes - current > this.#partBytes;
  }

  async #dropOldest(): Promise<void> {
    const { folder, stream, maxBytes } = this.#options;
    for (let first = this.#starts[0]; first !== undefined; first = this.#starts[0]) {
      if (this.#settledTo - first + this.#partBytes <= maxBytes) return;
      await rm(segmentPath(folder, stream, first), { force: true });
      this.#starts.shift();
    }
  }

  async #closeHandle(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    // A close that fails (a network disk) leaves nothing that could still be done.
    await handle?.close().catch(() => undefined);
  }
}

function promiseWithResolve(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
