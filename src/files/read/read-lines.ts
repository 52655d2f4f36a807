import type { OpenHandle } from '../../projects/open-handle.js';
import { feedAfter } from './line-feeds.js';
import { readFull, type LinePlace } from './line-index.js';
import { decodeText, markBytes, wholeEnd, type TextEncoding } from './text-encoding.js';

/** Longer lines are cut: they are data, and one of them would fill a whole answer. */
const MAX_LINE_BYTES = 4_096;
const CHUNK_BYTES = 65_536;

export interface LineRequest {
  readonly place: LinePlace;
  readonly startLine: number;
  readonly endLine: number;
  readonly encoding: TextEncoding;
  /** Size of the file, bytes: nothing is read beyond. */
  readonly size: number;
  /** Size of the text, bytes in UTF-8; one line is given whatever its size. */
  readonly maxBytes: number;
  /** Throws when the reading shall end. */
  readonly check: () => void;
}

export interface LinesRead {
  /** Each with its line feed, when it has one. */
  readonly lines: readonly string[];
  /** Why there are no more: all that were asked for, the end of the file, or no room. */
  readonly end: 'asked' | 'file' | 'full';
  /** True when NUL characters were among them. */
  readonly isBinary: boolean;
}

/** Reads lines one after the other, from a place at or before the first; memory is bounded, whatever the lines. */
export async function readLines(handle: OpenHandle, request: LineRequest): Promise<LinesRead> {
  const { encoding, startLine, endLine, maxBytes, size } = request;
  const collected = new LineCollector(encoding);
  const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  const lines: string[] = [];
  let bytes = 0;
  let line = request.place.linesBefore + 1;
  let position = request.place.offset === 0 ? markBytes(encoding) : request.place.offset;
  const done = (end: LinesRead['end']): LinesRead => ({
    lines,
    end,
    isBinary: lines.some((text) => text.includes('\0')),
  });
  /** Undefined while there is room and need for more. */
  const keep = (text: string): LinesRead['end'] | undefined => {
    const length = Buffer.byteLength(text);
    if (lines.length > 0 && bytes + length > maxBytes) return 'full';
    lines.push(text);
    bytes += length;
    return line === endLine ? 'asked' : undefined;
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
      const end = line >= startLine ? keep(collected.take()) : undefined;
      if (end !== undefined) return done(end);
      line++;
    }
  }
  const end = collected.isEmpty ? undefined : keep(collected.take());
  return done(end ?? 'file');
}

/** The beginning of one line, as much as is shown, and how much there was. */
class LineCollector {
  readonly #encoding: TextEncoding;
  #pieces: Buffer[] = [];
  #kept = 0;
  #bytes = 0;
  #hasFeed = false;

  constructor(encoding: TextEncoding) {
    this.#encoding = encoding;
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  add(piece: Buffer, hasFeed: boolean): void {
    this.#bytes += piece.length;
    this.#hasFeed = hasFeed;
    const room = MAX_LINE_BYTES - this.#kept;
    if (room <= 0 || piece.length === 0) return;
    // The chunk it lies in is filled again.
    this.#pieces.push(Buffer.from(piece.subarray(0, room)));
    this.#kept += Math.min(room, piece.length);
  }

  /** The line as it is shown; the next one begins. */
  take(): string {
    const bytes = Buffer.concat(this.#pieces);
    const text = this.#bytes === this.#kept ? decodeText(bytes, this.#encoding) : this.#cutText(bytes);
    this.#pieces = [];
    this.#kept = 0;
    this.#bytes = 0;
    return text;
  }

  #cutText(bytes: Buffer): string {
    const end = wholeEnd(bytes, this.#encoding);
    const shown = decodeText(bytes.subarray(0, end), this.#encoding);
    return `${shown}… [line cut: ${this.#bytes - end} more bytes]${this.#hasFeed ? '\n' : ''}`;
  }
}
