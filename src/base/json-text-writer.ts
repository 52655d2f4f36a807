import { SIMD_BYTES, simdFunction } from './simd-function.js';
import { ESCAPES, MAX_ESCAPED_BYTES, writeJsonText } from './json-text.js';
import { module } from './json-text-wasm.js';

/** Valid UTF-8 in, the inside of a JSON string out, both in memory that is used again and again. */
export interface JsonTextWriter {
  readonly source: Buffer;
  readonly target: Buffer;
  /** Writes the bytes `from` (a multiple of four) to `to` of `source` from `at` on into `target`; returns where they end. */
  write(from: number, to: number, at: number): number;
}

/** `sourceBytes` is a multiple of four; `extraBytes` is the room in the target beside that for all of the source. */
export function jsonTextWriter(sourceBytes: number, extraBytes: number): JsonTextWriter {
  const targetBytes = sourceBytes * MAX_ESCAPED_BYTES + extraBytes;
  return simdWriter(sourceBytes, targetBytes) ?? plainWriter(sourceBytes, targetBytes);
}

/** A twentieth of the instructions of the other: of a flood in a terminal this is the most that a recording costs. */
export function simdWriter(sourceBytes: number, targetBytes: number): JsonTextWriter | undefined {
  const lettersAt = sourceBytes;
  const targetAt = lettersAt + ESCAPES.length;
  const simd = simdFunction(module, targetAt + targetBytes + SIMD_BYTES);
  if (simd === undefined) return undefined;
  const { memory, call } = simd;
  Buffer.from(memory, lettersAt, ESCAPES.length).set(ESCAPES);
  return {
    source: Buffer.from(memory, 0, sourceBytes),
    target: Buffer.from(memory, targetAt, targetBytes),
    write: (from, to, at) => call(from, to, targetAt + at, lettersAt) - targetAt,
  };
}

/** For processors that do not work on sixteen bytes at once. */
export function plainWriter(sourceBytes: number, targetBytes: number): JsonTextWriter {
  const memory = new ArrayBuffer(sourceBytes);
  const words = new Uint32Array(memory);
  const source = Buffer.from(memory);
  const out = new ArrayBuffer(targetBytes);
  const view = new DataView(out);
  const target = Buffer.from(out);
  return {
    source,
    target,
    write: (from, to, at) => writeJsonText({ bytes: source, words }, from, to, { bytes: target, view }, at),
  };
}
