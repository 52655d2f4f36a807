import { SIMD_BYTES, simdFunction } from '../base/simd-function.js';
import { module } from './count-feeds-wasm.js';
import { unitBytes, type TextEncoding } from './text-encoding.js';

// Pure: how many lines end in a piece of a file.

/** A line feed in each byte of a word. */
const FEEDS = 0x0a0a0a0a;
const LOW_BITS = 0x7f7f7f7f;
const WORD_BYTES = 4;
/** A lane of eight bits counts so far. */
const MAX_LANE = 255;

/** A buffer that can be counted four bytes at a time; it has its memory for itself. */
export interface CountedBuffer {
  readonly bytes: Buffer;
  readonly words: Int32Array;
  /** Where the processor counts sixteen bytes at once. */
  readonly simd: ((from: number, to: number) => number) | undefined;
}

/** Smaller ones are counted sooner than the memory for more is had. */
const MIN_SIMD_BYTES = 524_288;

/** `size` is a multiple of 4. */
export function countedBuffer(size: number, minSimdBytes: number = MIN_SIMD_BYTES): CountedBuffer {
  const simd = size >= minSimdBytes && size % SIMD_BYTES === 0 ? simdFunction(module, size) : undefined;
  const bytes = simd === undefined ? Buffer.allocUnsafeSlow(size) : Buffer.from(simd.memory, 0, size);
  return {
    bytes,
    words: new Int32Array(bytes.buffer, bytes.byteOffset, size / WORD_BYTES),
    simd: simd?.call,
  };
}

/** Line feeds in any bytes: four at a time where they lie so in memory. */
export function newlinesIn(bytes: Buffer, encoding: TextEncoding): number {
  if (unitBytes(encoding) === 2) return countWide(bytes, 0, bytes.length, encoding === 'utf-16le' ? 0 : 1);
  const isAligned = bytes.byteOffset % WORD_BYTES === 0;
  const length = isAligned ? Math.floor(bytes.length / WORD_BYTES) : 0;
  let total = countWords(new Int32Array(bytes.buffer, isAligned ? bytes.byteOffset : 0, length), 0, length);
  for (let at = length * WORD_BYTES; at < bytes.length; at++) if (bytes[at] === 0x0a) total++;
  return total;
}

/** Line feeds in the bytes `from` to `to`; `from` is a multiple of 4. */
export function countNewlines(
  buffer: CountedBuffer,
  from: number,
  to: number,
  encoding: TextEncoding,
): number {
  if (unitBytes(encoding) === 2) return countWide(buffer.bytes, from, to, encoding === 'utf-16le' ? 0 : 1);
  const simdEnd = Math.floor(to / SIMD_BYTES) * SIMD_BYTES;
  const hasSimd = buffer.simd !== undefined && from % SIMD_BYTES === 0 && from < simdEnd;
  const wordFrom = hasSimd ? simdEnd : from;
  const wordEnd = Math.floor(to / WORD_BYTES);
  let total = hasSimd ? buffer.simd(from, simdEnd) : 0;
  total += countWords(buffer.words, wordFrom / WORD_BYTES, wordEnd);
  for (let at = Math.max(wordFrom, wordEnd * WORD_BYTES); at < to; at++)
    if (buffer.bytes[at] === 0x0a) total++;
  return total;
}

/** Three times as fast as byte by byte: each byte of a word that is a line feed adds to a lane of its own. */
function countWords(words: Int32Array, from: number, to: number): number {
  let total = 0;
  let at = from;
  while (at < to) {
    const stop = Math.min(to, at + MAX_LANE);
    let lanes = 0;
    for (; at < stop; at++) {
      const zeroed = (words[at] ?? 0) ^ FEEDS;
      const isZero = ~(((zeroed & LOW_BITS) + LOW_BITS) | zeroed | LOW_BITS);
      lanes = (lanes + (isZero >>> 7)) | 0;
    }
    total += (lanes & 0xff) + ((lanes >>> 8) & 0xff) + ((lanes >>> 16) & 0xff) + (lanes >>> 24);
  }
  return total;
}

function countWide(bytes: Buffer, from: number, to: number, feedAt: 0 | 1): number {
  let total = 0;
  for (let at = from; at + 1 < to; at += 2)
    if (bytes[at + feedAt] === 0x0a && bytes[at + 1 - feedAt] === 0) total++;
  return total;
}
