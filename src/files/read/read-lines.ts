import type { OpenHandle } from '../../projects/open-handle.js';
import { feedAfter } from './line-feeds.js';
import { readFull, type LineOffset } from './line-scan.js';
import { decodeText, isValidText, markBytes, wholeEnd, type TextEncoding } from './text-encoding.js';

/** Longer lines are cut: they are data, and one could fill a whole answer. */
const MAX_LINE_BYTES = 4_096;
const CHUNK_BYTES = 65_536;

export interface LineRequest {
  readonly start: LineOffset;
  readonly startLine: number;
  readonly endLine: number;
  readonly encoding: TextEncoding;
  /** Size of the file in bytes; nothing is read beyond it. */
  readonly size: number;
  /** Maximum size of the text in bytes of UTF-8; the first line is returned whatever its size. */
  readonly maxBytes: number;
  /** Throws to stop reading. */
  readonly check: () => void;
}

export interface LinesRead {
  /** Each with its line feed, if it has one. */
  readonly lines: readonly string[];
  /** Why the lines end: all requested lines were read, the file ended, or `maxBytes` was reached. */
  readonly end: 'requested' | 'file' | 'full';
  /** True when the lines contain NUL characters. */
  readonly isBinary: boolean;
  /** True when bytes of the lines are not valid in the encoding. */
  readonly isMisread: boolean;
}

/** Reads lines one after the other, from an offset at or before the first one. Memory is bounded for any length of lines. */
export async function readLines(handle: OpenHandle, request: LineRequest): Promise<LinesRead> {
  const { encoding, startLine, endLine, maxBytes, size } = request;
  const collected = new LineCollector(encoding);
  const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  const lines: string[] = [];
  let bytes = 0;
  let line = request.start.linesBefore + 1;
  let position = request.start.offset === 0 ? markBytes(encoding) : request.start.offset;
  const done = (end: LinesRead['end']): LinesRead => ({
    lines,
    end,
    isBinary: lines.some((text) => text.includes('\0')),
    isMisread: collected.isMisread,
  });
  /** Returns undefined while more lines are needed and fit. */
  const addLine = (text: string): LinesRead['end'] | undefined => {
    const length = Buffer.byteLength(text);
    if (lines.length > 0 && bytes + length > maxBytes) return 'full';
    lines.push(text);
    bytes += length;
    return line === endLine ? 'requested' : undefined;
  };

  for (;;) {
    request.check();
    const filled = await readFull(handle, chunk, position, size);
    if (filled === 0) break;
    position += filled;
    const piece = chunk.subarray(0, filled);
    for (let at = 0; at < filled;) {
      const feed = feedAfter(piece, at, encoding);
      if (line >= startLine) collected.add(piece.subarray(at, feed ?? filled), feed !== undefined);
      at = feed ?? filled;
      if (feed === undefined) continue;
      const end = line >= startLine ? addLine(collected.take()) : undefined;
      if (end !== undefined) return done(end);
      line++;
    }
  }
  const end = collected.isEmpty ? undefined : addLine(collected.take());
  return done(end ?? 'file');
}

/** Collects the shown part of one line, and counts its bytes. */
class LineCollector {
  readonly #encoding: TextEncoding;
  #pieces: Buffer[] = [];
  #stored = 0;
  #bytes = 0;
  #hasFeed = false;
  #isMisread = false;

  constructor(encoding: TextEncoding) {
    this.#encoding = encoding;
  }

  get isMisread(): boolean {
    return this.#isMisread;
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  add(piece: Buffer, hasFeed: boolean): void {
    this.#bytes += piece.length;
    this.#hasFeed = hasFeed;
    const room = MAX_LINE_BYTES - this.#stored;
    if (room <= 0 || piece.length === 0) return;
    // A copy, since the chunk is reused.
    this.#pieces.push(Buffer.from(piece.subarray(0, room)));
    this.#stored += Math.min(room, piece.length);
  }

  /** Returns the line as shown, and starts the next one. */
  take(): string {
    const bytes = Buffer.concat(this.#pieces);
    const isWhole = this.#bytes === this.#stored;
    const valid = isWhole ? bytes : bytes.subarray(0, wholeEnd(bytes, this.#encoding));
    this.#isMisread ||= !isValidText(valid, this.#encoding);
    const text = isWhole ? decodeText(bytes, this.#encoding) : this.#cutText(bytes);
    this.#pieces = [];
    this.#stored = 0;
    this.#bytes = 0;
    return text;
  }

  #cutText(bytes: Buffer): string {
    const end = wholeEnd(bytes, this.#encoding);
    const shown = decodeText(bytes.subarray(0, end), this.#encoding);
    return `${shown}… [line cut: ${this.#bytes - end} more bytes]${this.#hasFeed ? '\n' : ''}`;
  }
}
