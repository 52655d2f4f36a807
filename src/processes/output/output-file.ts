import { rm } from 'node:fs/promises';
import { AppendFile, type Parts } from '../../store/append-file.js';
import type { OutputStream } from '../../pty/child.js';
import { segmentPath } from './output-segments.js';

/** A longer piece is written as several entries, each of which fits into a part. */
export const ENTRY_BYTES = 256 * 1024;
/** The bound is kept by dropping the oldest of so many parts: seven eighths of it are always there. */
const PARTS = 8;

export interface OutputFileOptions {
  readonly folder: string;
  readonly stream: OutputStream;
  /** At most so much is kept on disk; of more the oldest is dropped. */
  readonly maxBytes: number;
  /** Called each time that writing begins to fail. Must not throw. */
  readonly onError: (error: unknown) => void;
}

/**
 * One output stream of a process, in files. The name of each says at what byte of the stream it begins: what is missing
 * between two of them is known to every reader. A disk that fails costs what was printed meanwhile, and the process goes on.
 */
export class OutputFile {
  readonly #file: AppendFile;

  constructor(options: OutputFileOptions) {
    this.#file = new AppendFile({ parts: new Segments(options), keptBytes: 0, onError: options.onError });
  }

  /** Bytes that were printed. */
  get endBytes(): number {
    return this.#file.endBytes;
  }

  /** Bytes that are in no file because the disk refused them. */
  get lostBytes(): number {
    return this.#file.lostBytes;
  }

  /** Copies the bytes. Returns a promise, which never rejects, when the source should wait for the disk. */
  write(bytes: Uint8Array): Promise<void> | undefined {
    let wait: Promise<void> | undefined;
    for (let at = 0; at < bytes.length; at += ENTRY_BYTES)
      wait = this.#file.write(bytes.subarray(at, at + ENTRY_BYTES));
    return wait;
  }

  /** Resolves when everything printed so far can be read from the files. */
  async written(): Promise<void> {
    await this.#file.flush();
  }

  /** Writes out and closes the file; what is printed later opens it again. */
  close(): Promise<void> {
    return this.#file.release();
  }
}

/** Parts that are named by the offset at which they begin. */
class Segments implements Parts {
  readonly partBytes: number;
  readonly last = { path: '', size: 0 };
  readonly endsAtGap = true;
  readonly #options: OutputFileOptions;
  readonly #starts: number[] = [];

  constructor(options: OutputFileOptions) {
    this.#options = options;
    this.partBytes = Math.max(ENTRY_BYTES, Math.floor(options.maxBytes / PARTS));
  }

  async begin(offset: number): Promise<string> {
    const { folder, stream, maxBytes } = this.#options;
    for (let first = this.#starts[0]; first !== undefined; first = this.#starts[0]) {
      if (offset - first + this.partBytes <= maxBytes) break;
      await rm(segmentPath(folder, stream, first), { force: true });
      this.#starts.shift();
    }
    this.#starts.push(offset);
    return segmentPath(folder, stream, offset);
  }
}
