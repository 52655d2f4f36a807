import type { OpenHandle } from '../../projects/open-handle.js';
import { countNewlines } from './count-newlines.js';
import type { TextEncoding } from './text-encoding.js';

/** Bytes between two marks at first; doubled whenever there are too many marks. */
const STEP_BYTES = 65_536;
/** 32 KB of numbers, whatever the size of the file: 256 MB with marks every 64 KB, 10 GB with marks every 4 MB. */
const MAX_MARKS = 4_096;
/** Two of these are all the memory that a scan takes; smaller ones cost more in calls than they save. */
const CHUNK_BYTES = 1_048_576;

export interface LinePlace {
  /** A place in the file, at or before the beginning of the line. */
  readonly offset: number;
  /** How many lines end before `offset`. */
  readonly linesBefore: number;
}

/**
 * Where the lines of a file are: at every so many bytes, how many lines end before. Grows as far as it is asked for, in
 * bounded memory, and can be asked again without reading the file again.
 */
export class LineIndex {
  readonly size: number;
  readonly encoding: TextEncoding;
  #stepBytes = STEP_BYTES;
  /** `#marks[n]`: lines that end before byte `n * #stepBytes`. */
  #marks: number[] = [0];
  #scanned = 0;
  #newlines = 0;
  #turn: Promise<void> = Promise.resolve();

  constructor(size: number, encoding: TextEncoding) {
    this.size = size;
    this.encoding = encoding;
  }

  /** Bytes read so far, from the beginning. */
  get scannedBytes(): number {
    return this.#scanned;
  }

  /** Line feeds in what was read so far. */
  get newlines(): number {
    return this.#newlines;
  }

  /**
   * Reads on until `isEnough` or the end of the file. `isEnough` is asked after each piece, and may throw; what was read
   * until then is kept. Calls at the same time wait for one another.
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
    // One piece is read while the one before is counted.
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
        // The caller closes the file: the piece that is still being read must be in before.
        if (!isLast) await reading;
      }
      [current, spare] = [spare, current];
    }
  }

  /** The nearest known place at or before the beginning of `line` (1 is the first); at most one step of bytes before it. */
  placeOf(line: number): LinePlace {
    let low = 0;
    let high = this.#marks.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      // With as many line ends before the mark as before the line, the line begins at the mark or before it.
      if ((this.#marks[middle] ?? 0) < line - 1) low = middle;
      else high = middle - 1;
    }
    return { offset: low * this.#stepBytes, linesBefore: this.#marks[low] ?? 0 };
  }

  #count(buffer: Buffer, bytesRead: number): void {
    const start = this.#scanned;
    for (let at = 0; at < bytesRead;) {
      const toMark = this.#stepBytes - ((start + at) % this.#stepBytes);
      const end = Math.min(bytesRead, at + toMark);
      this.#newlines += countNewlines(buffer.subarray(at, end), this.encoding);
      at = end;
      this.#scanned = start + end;
      if (this.#scanned % this.#stepBytes === 0) this.#mark();
    }
  }

  #mark(): void {
    this.#marks.push(this.#newlines);
    if (this.#marks.length <= MAX_MARKS) return;
    this.#stepBytes *= 2;
    this.#marks = this.#marks.filter((_, index) => index % 2 === 0);
  }
}

/** Fills `buffer` from `position` on, as far as the file reaches, at most to `limit`. */
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
