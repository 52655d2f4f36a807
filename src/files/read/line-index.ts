import type { OpenHandle } from '../../projects/open-handle.js';
import { countNewlines } from './count-newlines.js';
import type { TextEncoding } from './text-encoding.js';

/** Initial bytes between two entries; doubled whenever there are too many entries. */
const STEP_BYTES = 65_536;
/** 32 KB of numbers for any size of file: 256 MB with entries every 64 KB, 10 GB with entries every 4 MB. */
const MAX_ENTRIES = 4_096;
/** A scan takes the memory of two chunks; smaller ones would need more calls. */
const CHUNK_BYTES = 1_048_576;

export interface LineOffset {
  /** An offset in the file, at or before the beginning of the line. */
  readonly offset: number;
  /** Number of lines that end before `offset`. */
  readonly linesBefore: number;
}

/**
 * A sparse index of the lines of a file: for every n-th byte, the number of lines that end before it. It is built as far as needed,
 * in bounded memory, so that later lookups need not read the file again.
 */
export class LineIndex {
  readonly size: number;
  readonly encoding: TextEncoding;
  #stepBytes = STEP_BYTES;
  /** `#entries[n]`: number of lines that end before byte `n * #stepBytes`. */
  #entries: number[] = [0];
  #scanned = 0;
  #newlines = 0;
  #turn: Promise<void> = Promise.resolve();

  constructor(size: number, encoding: TextEncoding) {
    this.size = size;
    this.encoding = encoding;
  }

  /** Bytes scanned so far. */
  get scannedBytes(): number {
    return this.#scanned;
  }

  /** Line feeds in the scanned bytes. */
  get newlines(): number {
    return this.#newlines;
  }

  /**
   * Continues the scan until `isEnough` returns true or the file ends. `isEnough` is called after each chunk and may throw; the
   * index keeps what was scanned before. Concurrent calls run one after the other.
   */
  async scan(handle: OpenHandle, isEnough: () => boolean): Promise<void> {
    const before = this.#turn;
    let release = (): void => undefined;
    this.#turn = new Promise((resolve) => (release = resolve));
    await before;
    try {
      if (this.#scanned < this.size && !isEnough()) await this.#scanOn(handle, isEnough);
    } finally {
      release();
    }
  }

  async #scanOn(handle: OpenHandle, isEnough: () => boolean): Promise<void> {
    const length = Math.min(CHUNK_BYTES, Math.ceil(this.size / STEP_BYTES) * STEP_BYTES);
    let current = Buffer.allocUnsafeSlow(length);
    let spare = Buffer.allocUnsafeSlow(this.size - this.#scanned > length ? length : 0);
    // One chunk is read while the previous one is counted.
    let reading = readFull(handle, current, this.#scanned, this.size);
    for (;;) {
      const bytesRead = await reading;
      const next = this.#scanned + bytesRead;
      const isLast = next >= this.size || bytesRead < length;
      if (!isLast) reading = readFull(handle, spare, next, this.size);
      try {
        this.#count(current, bytesRead);
        if (isLast || isEnough()) return;
      } finally {
        // The caller may close the file after this, so the pending read must finish first.
        if (!isLast) await reading;
      }
      [current, spare] = [spare, current];
    }
  }

  /** The nearest entry at or before the beginning of `line` (from 1), at most one step before it. */
  nearest(line: number): LineOffset {
    let low = 0;
    let high = this.#entries.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      // With the same number of line ends before the entry as before the line, the line begins at the entry or before it.
      if ((this.#entries[middle] ?? 0) < line - 1) low = middle;
      else high = middle - 1;
    }
    return { offset: low * this.#stepBytes, linesBefore: this.#entries[low] ?? 0 };
  }

  #count(buffer: Buffer, bytesRead: number): void {
    const start = this.#scanned;
    for (let at = 0; at < bytesRead;) {
      const toEntry = this.#stepBytes - ((start + at) % this.#stepBytes);
      const end = Math.min(bytesRead, at + toEntry);
      this.#newlines += countNewlines(buffer.subarray(at, end), this.encoding);
      at = end;
      this.#scanned = start + end;
      if (this.#scanned % this.#stepBytes === 0) this.#addEntry();
    }
  }

  #addEntry(): void {
    this.#entries.push(this.#newlines);
    if (this.#entries.length <= MAX_ENTRIES) return;
    this.#stepBytes *= 2;
    this.#entries = this.#entries.filter((_, index) => index % 2 === 0);
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
