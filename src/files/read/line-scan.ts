import type { OpenHandle } from '../../projects/open-handle.js';
import { countNewlines, lastFeedEnd } from './line-feeds.js';
import { markBytes, unitBytes, type TextEncoding } from './text-encoding.js';

/** A scan takes the memory of two chunks; smaller ones would need more calls. */
const CHUNK_BYTES = 1_048_576;

export interface LineOffset {
  /** An offset in the file, at or before the beginning of the line. */
  readonly offset: number;
  /** Number of lines that end before `offset`. */
  readonly linesBefore: number;
}

/** Counts the lines of an open file from its beginning, in bounded memory, and finds where one of them is. */
export class LineScan {
  /** Line feeds in the scanned bytes. */
  newlines = 0;
  /** The last beginning of a chunk at or before the sought line. */
  start: LineOffset = { offset: 0, linesBefore: 0 };
  readonly #handle: OpenHandle;
  readonly #size: number;
  readonly #encoding: TextEncoding;
  readonly #line: number;
  #scanned = 0;

  /** `line` is the sought one, from 1. */
  constructor(handle: OpenHandle, size: number, encoding: TextEncoding, line = 1) {
    this.#handle = handle;
    this.#size = size;
    this.#encoding = encoding;
    this.#line = line;
  }

  /** Bytes that were not scanned yet. */
  get left(): number {
    return this.#size - this.#scanned;
  }

  /** Continues until `isEnough` returns true or the file ends. `isEnough` is called before each chunk and may throw. */
  async scan(isEnough: () => boolean): Promise<void> {
    if (this.left === 0 || isEnough()) return;
    const length = Math.min(CHUNK_BYTES, this.left);
    let current = Buffer.allocUnsafeSlow(length);
    let spare = Buffer.allocUnsafeSlow(this.left > length ? length : 0);
    // One chunk is read while the previous one is counted.
    let reading = readFull(this.#handle, current, this.#scanned, this.#size);
    while (this.left > 0) {
      const bytesRead = await reading;
      if (bytesRead === 0 || isEnough()) return;
      const next = this.#scanned + bytesRead;
      reading = readFull(this.#handle, spare, next, this.#size);
      this.#count(current.subarray(0, bytesRead));
      [current, spare] = [spare, current];
    }
  }

  /** The number of lines; null when the scan did not reach the end of the file. */
  async lines(): Promise<number | null> {
    if (this.left > 0) return null;
    if (this.#size <= markBytes(this.#encoding)) return this.newlines;
    // Half of a unit is no line end.
    if (this.#size % unitBytes(this.#encoding) !== 0) return this.newlines + 1;
    const last = Buffer.alloc(Math.min(2, this.#size));
    const filled = await readFull(this.#handle, last, this.#size - last.length, this.#size);
    // Text may follow the last line end.
    return this.newlines + (lastFeedEnd(last.subarray(0, filled), this.#encoding) === last.length ? 0 : 1);
  }

  #count(chunk: Buffer): void {
    // With as many line ends before the chunk as before the line, the line may begin before the chunk.
    if (this.newlines < this.#line - 1) this.start = { offset: this.#scanned, linesBefore: this.newlines };
    this.newlines += countNewlines(chunk, this.#encoding);
    this.#scanned += chunk.length;
  }
}

/** Fills `buffer` from `position` up to the end of the file or `limit`; returns the number of bytes. */
export async function readFull(
  handle: OpenHandle,
  buffer: Buffer,
  position: number,
  limit: number,
): Promise<number> {
  const length = Math.max(0, Math.min(buffer.length, limit - position));
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}
