import { isUtf8 } from 'node:buffer';
import { SIMD_BYTES, simdFunction, type SimdFunction } from '../../base/simd-function.js';
import { module } from './plain-lines-wasm.js';

/** A terminal's output is told in pieces of this size at most. */
const PIECE_BYTES = 64 * 1024;
/** Less than this is looked at as text sooner than the memory for it is had. */
const MIN_BYTES = 4 * 1024;

/** Longer lines, their ends included, are not plain: a log cuts what no person would read. */
export const MAX_PLAIN_LINE_BYTES = 4_000;
/** A piece, and the line before it that has no end yet. */
const SOURCE_BYTES = PIECE_BYTES + 4 * 1024;

/**
 * Finds the pieces of a flood that hold nothing but lines as a person reads them, and gives them as bytes: as text each of them
 * is copied six times on its way to the log, which takes twenty times as long.
 */
export class PlainLines {
  /** Made for the first piece; most programs print none that is long enough. */
  #made: { readonly simd: SimdFunction | undefined } | undefined;

  /**
   * `open` and `lines` behind it: whole lines, each ending in a line feed, without the carriage returns before those; undefined
   * when they are few or hold anything else than text. The bytes are valid until the next call.
   */
  from(open: Buffer, lines: Buffer): Buffer | undefined {
    const length = open.length + lines.length;
    if (lines.length < MIN_BYTES || length > SOURCE_BYTES) return undefined;
    const { simd } = (this.#made ??= { simd: simdFunction(module, 2 * SOURCE_BYTES + SIMD_BYTES) });
    if (simd === undefined) return undefined;
    const source = Buffer.from(simd.memory, 0, length);
    open.copy(source);
    lines.copy(source, open.length);
    if (!isUtf8(source)) return undefined;
    const end = simd.call(0, length, SOURCE_BYTES, MAX_PLAIN_LINE_BYTES);
    return end === -1 ? undefined : Buffer.from(simd.memory, SOURCE_BYTES, end - SOURCE_BYTES);
  }
}
