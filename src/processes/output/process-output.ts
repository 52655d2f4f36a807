import { rm } from 'node:fs/promises';
import { Emitter } from '../../base/lifecycle.js';
import type { OutputSink, OutputStream } from '../../pty/child.js';
import { AppendFile, type Parts } from '../../store/append-file.js';
import type { OutputBytes } from '../process-handle.js';
import { segmentPath } from './output-reader.js';

/** A longer piece is written as several entries, each of which fits into a part. */
const ENTRY_BYTES = 256 * 1024;
/** To stay within the bound, the oldest of so many parts is dropped: seven eighths of it are always there. */
const PARTS = 8;

export interface OutputOptions {
  readonly folder: string;
  /** At most so much of each stream is stored on disk; of more the oldest is dropped. */
  readonly maxBytes: number;
  /** Called each time that writing begins to fail. Must not throw. */
  readonly onError: (error: unknown) => void;
}

/** Parts that are named by the offset at which they begin. */
class Segments implements Parts {
  readonly partBytes: number;
  readonly last = { path: '', size: 0 };
  readonly endsAtGap = true;
  readonly #options: OutputOptions;
  readonly #stream: OutputStream;
  readonly #starts: number[] = [];

  constructor(options: OutputOptions, stream: OutputStream) {
    this.#options = options;
    this.#stream = stream;
    this.partBytes = Math.max(ENTRY_BYTES, Math.floor(options.maxBytes / PARTS));
  }

  async begin(offset: number): Promise<string> {
    const { folder, maxBytes } = this.#options;
    for (let first = this.#starts[0]; first !== undefined; first = this.#starts[0]) {
      if (offset - first + this.partBytes <= maxBytes) break;
      await rm(segmentPath(folder, this.#stream, first), { force: true });
      this.#starts.shift();
    }
    this.#starts.push(offset);
    return segmentPath(folder, this.#stream, offset);
  }
}

/**
 * Everything that one process prints, on disk. The name of each file says at what byte of its stream it begins: what is missing
 * between two of them is known to every reader. A disk that fails costs what was printed meanwhile, and the process goes on.
 */
export class ProcessOutput implements OutputSink {
  readonly #options: OutputOptions;
  readonly #files = new Map<OutputStream, AppendFile>();
  readonly #printed = new Emitter<void>();

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  /** Fires each time that something is printed. */
  get onPrinted() {
    return this.#printed.event;
  }

  /** Copies the bytes. Returns a promise, which never rejects, when the source should wait for the disk. */
  write(stream: OutputStream, bytes: Uint8Array): Promise<void> | undefined {
    let file = this.#files.get(stream);
    if (file === undefined) {
      const { onError } = this.#options;
      file = new AppendFile({ parts: new Segments(this.#options, stream), keptBytes: 0, onError });
      this.#files.set(stream, file);
    }
    let wait: Promise<void> | undefined;
    for (let at = 0; at < bytes.length; at += ENTRY_BYTES)
      wait = file.write(bytes.subarray(at, at + ENTRY_BYTES));
    this.#printed.fire();
    return wait;
  }

  get bytes(): OutputBytes {
    return Object.fromEntries([...this.#files].map(([stream, file]) => [stream, file.endBytes]));
  }

  get totalBytes(): number {
    return [...this.#files.values()].reduce((sum, file) => sum + file.endBytes, 0);
  }

  /** Resolves when everything printed so far can be read from the files. */
  async written(): Promise<void> {
    await Promise.all([...this.#files.values()].map((file) => file.flush()));
  }

  /** Writes out and closes the files; what is printed later opens them again. */
  async close(): Promise<void> {
    await Promise.all([...this.#files.values()].map((file) => file.release()));
  }
}
