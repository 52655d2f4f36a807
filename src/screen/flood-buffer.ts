import { sequenceEnd } from './escape-sequence.js';
import { SkippedModes } from './skipped-modes.js';

/** More than this within a frame is a flood: nobody could read it, and parsing it all would take the machine. */
export const FLOOD_BYTES = 256 * 1024;
/** What is parsed of a flood: several full screens of the largest size. */
export const FLOOD_TAIL_BYTES = 64 * 1024;
/** More plain lines than this are a flood, too: each stands for itself, so of them only those are parsed that fill the screen. */
export const PLAIN_FLOOD_BYTES = 16 * 1024;
/** With so many bytes a row the lines of a piece fill a screen, whether they are short or wrapped. */
const FULL_ROW_BYTES = 512;
/** How far behind the wanted cut a line's end, or a sequence's beginning, is looked for. */
const CUT_SEARCH_BYTES = 8 * 1024;
/** A sequence that is not complete after so much is given to the terminal as it is. */
const MAX_INCOMPLETE_BYTES = 4096;

const ESC = 0x1b;
const NEWLINE = 0x0a;
const EMPTY = Buffer.alloc(0);

/** What a terminal is to be fed for one frame. */
export interface Batch {
  readonly bytes: Buffer;
  readonly skippedBytes: number;
  readonly isPlain: boolean;
}

/** Collects output between frames, in bounded memory: of a flood only the tail is kept, with the modes of the rest. */
export class FloodBuffer {
  #chunks: Buffer[] = [];
  #length = 0;
  #skippedBytes = 0;
  #isFlood = false;
  #isPlain = true;
  readonly #modes = new SkippedModes();
  /** A flood of plain lines makes no garbage: piece after piece is copied into this. */
  #screenful: Buffer | undefined;

  get isEmpty(): boolean {
    return this.#length === 0 && this.#skippedBytes === 0;
  }

  /** More than anybody could read has been collected, and all of it are lines that are kept elsewhere. */
  get isPlainFlood(): boolean {
    return this.#isFlood && this.#isPlain;
  }

  /** `bytes` are copied. `isPlain` says that they hold nothing but lines, which are kept elsewhere, for a screen of so many rows. */
  add(bytes: Buffer, isPlain: boolean, rows: number): void {
    this.#isPlain &&= isPlain;
    this.#length += bytes.length;
    this.#isFlood ||= this.#length > (this.#isPlain ? PLAIN_FLOOD_BYTES : FLOOD_BYTES);
    if (this.isPlainFlood && bytes.length >= rows * FULL_ROW_BYTES && bytes.length <= FLOOD_TAIL_BYTES) {
      this.#takePlace(bytes);
      return;
    }
    this.#chunks.push(Buffer.from(bytes));
    if (this.#isFlood) this.#skipTo(2 * FLOOD_TAIL_BYTES);
  }

  /**
   * Everything collected; of a flood of plain lines those that fill a screen of so many rows. An escape sequence cut off at the
   * end stays for the next batch unless `all` is asked for.
   */
  take(all: boolean, rows: number): Batch {
    if (this.#isFlood) this.#cutToTail(rows);
    const isPlain = this.#isPlain;
    this.#isFlood = false;
    this.#isPlain = true;
    const collected = this.#join();
    const end = all ? collected.length : completeEnd(collected);
    const skippedBytes = this.#skippedBytes;
    const shown = collected.subarray(0, end);
    const bytes =
      skippedBytes > 0 ? Buffer.concat([Buffer.from(this.#modes.take(), 'latin1'), shown]) : shown;
    this.#chunks = end < collected.length ? [collected.subarray(end)] : [];
    // What is taken may be parsed later.
    this.#screenful = undefined;
    this.#length = collected.length - end;
    this.#skippedBytes = 0;
    return { bytes, skippedBytes, isPlain };
  }

  /** Plain lines that alone fill the screen: nothing of what came before will be seen. They are copied to where the last such ones were. */
  #takePlace(bytes: Buffer): void {
    for (const chunk of this.#chunks) this.#skip(chunk);
    this.#screenful ??= Buffer.allocUnsafeSlow(FLOOD_TAIL_BYTES);
    bytes.copy(this.#screenful);
    this.#chunks = [this.#screenful.subarray(0, bytes.length)];
  }

  /** Of a flood of plain lines those that fill a screen of so many rows; they stay collected. Nothing of any other output. */
  lastPlainLines(rows: number): Buffer {
    if (!this.isPlainFlood) return EMPTY;
    const collected = this.#join();
    return collected.subarray(startOfLastLines(collected, rows));
  }

  /** Skips whole chunks from the front while more than `keptBytes` stay behind them. */
  #skipTo(keptBytes: number): void {
    let count = 0;
    for (const chunk of this.#chunks) {
      if (this.#length - chunk.length < keptBytes) break;
      this.#skip(chunk);
      count++;
    }
    if (count > 0) this.#chunks.splice(0, count);
  }

  #cutToTail(rows: number): void {
    this.#skipTo(FLOOD_TAIL_BYTES);
    const collected = this.#join();
    const before = collected.length - FLOOD_TAIL_BYTES;
    const tail = before > 0 ? findCut(collected, before) : 0;
    const cut = this.#isPlain ? Math.max(tail, startOfLastLines(collected, rows)) : tail;
    this.#skip(collected.subarray(0, cut));
    this.#chunks = [collected.subarray(cut)];
  }

  #skip(bytes: Buffer): void {
    this.#modes.skip(bytes);
    this.#skippedBytes += bytes.length;
    this.#length -= bytes.length;
  }

  #join(): Buffer {
    const [first] = this.#chunks;
    if (!first) return EMPTY;
    return this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#length);
  }
}

/** Where the last `count` lines begin, and the open one behind them. */
function startOfLastLines(bytes: Buffer, count: number): number {
  let at = bytes.length;
  for (let line = 0; line <= count; line++) {
    if (at <= 0) return 0;
    at = bytes.lastIndexOf(NEWLINE, at - 1);
  }
  return at + 1;
}

/** Behind a line's end near `wanted`; else before an escape sequence; else before a character. */
function findCut(bytes: Buffer, wanted: number): number {
  const near = bytes.subarray(wanted, wanted + CUT_SEARCH_BYTES);
  const newline = near.indexOf(NEWLINE);
  if (newline !== -1) return wanted + newline + 1;
  const escape = near.indexOf(ESC);
  if (escape !== -1) return wanted + escape;
  let cut = wanted;
  while (cut < bytes.length && ((bytes[cut] ?? 0) & 0xc0) === 0x80) cut++;
  return cut;
}

/** The end of the last complete escape sequence, or of the text behind it. */
function completeEnd(bytes: Buffer): number {
  const escape = bytes.lastIndexOf(ESC);
  if (escape === -1 || bytes.length - escape > MAX_INCOMPLETE_BYTES) return bytes.length;
  return sequenceEnd(bytes, escape) === -1 ? escape : bytes.length;
}
