import type { Clock } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import { countedNoun, oneLine } from '../../base/text.js';
import type { OpenedPath } from '../../projects/opened-path.js';
import { binaryFile, piecesOf, readHead } from './read-page.js';
import {
  decodeText,
  feedAfter,
  isValidText,
  markBytes,
  misreadNote,
  SAMPLE_BYTES,
  wholeEnd,
  type TextEncoding,
} from './text-encoding.js';

/** Bytes that are read beyond the range to count all lines of the file, in about 10 ms. */
const TOTAL_BYTES = 16_777_216;
/** A call must answer within 45 s; in this time even a slow disk reads a few GB. */
const SCAN_LIMIT_MS = 20_000;
/** Longer lines are cut: they are data, and one could fill a whole answer. */
const MAX_LINE_BYTES = 4_096;
const SHOWN_CHARS = 400;

export interface RangeQuery {
  readonly startLine: number;
  /** Inclusive. */
  readonly endLine: number;
  /** Maximum size of the content in bytes of UTF-8; the first line is returned whatever its size. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface FileRange {
  readonly path: string;
  readonly startLine: number;
  /** The last returned line, or the last of the file when the range begins after it. */
  readonly endLine: number;
  readonly note?: string;
  /** The lines, without the line end of the last one. */
  readonly content: string;
  /** Null when too much of the file follows to count its lines. */
  readonly totalLines: number | null;
  /** True when not all lines of the range are returned. */
  readonly truncated: boolean;
}

/**
 * Reads a range of lines of a text file of any size, in bounded memory; the lines before it are counted each time. Throws
 * BINARY_FILE, INVALID_ARGUMENTS, FILE_TOO_LARGE.
 */
export async function readRange(opened: OpenedPath, query: RangeQuery, clock: Clock): Promise<FileRange> {
  const { startLine, endLine, signal } = query;
  if (endLine < startLine) {
    const message = `end_line ${endLine} is before start_line ${startLine}.`;
    throw new BridgeError('INVALID_ARGUMENTS', message, 'Give an end_line of at least start_line.');
  }
  const { path } = opened;
  const { encoding } = await readHead(opened, SAMPLE_BYTES);
  const untilMs = clock.monotonicMs() + SCAN_LIMIT_MS;
  const lines = new RangeLines(query, encoding);
  let left = Number(opened.stats.size) - markBytes(encoding);
  for await (const piece of piecesOf(opened, markBytes(encoding))) {
    signal.throwIfAborted();
    if (!lines.isDone && clock.monotonicMs() > untilMs) throw tooLarge(path, startLine, lines.ended);
    if (lines.isDone && (left > TOTAL_BYTES || clock.monotonicMs() > untilMs)) break;
    lines.push(piece);
    left -= piece.length;
  }
  const total = lines.end();
  const totalLines = left > 0 ? null : total;
  const { texts } = lines;
  if (texts.length === 0) {
    const note = `The file has ${countedNoun(total, 'line')}: none at ${startLine} or after it.`;
    return { path, startLine, endLine: total, note, content: '', totalLines, truncated: false };
  }
  if (texts.some((text) => text.includes('\0'))) throw binaryFile(path);
  return {
    path,
    startLine,
    endLine: startLine + texts.length - 1,
    ...(lines.isMisread && { note: misreadNote(encoding) }),
    content: texts.join('').replace(/\r?\n$/, ''),
    totalLines,
    truncated: lines.isFull,
  };
}

/** Takes the lines of a range from the pieces of a file, and counts all. */
class RangeLines {
  /** Each with its line end, if it has one. */
  readonly texts: string[] = [];
  /** Lines that have ended. */
  ended = 0;
  /** True when a line of the range did not fit. */
  isFull = false;
  isMisread = false;
  readonly #query: RangeQuery;
  readonly #encoding: TextEncoding;
  #bytesLeft: number;
  /** The shown part of the current line, and the size of all of it. */
  #shown: Buffer[] = [];
  #lineBytes = 0;

  constructor(query: RangeQuery, encoding: TextEncoding) {
    this.#query = query;
    this.#encoding = encoding;
    this.#bytesLeft = query.maxBytes;
  }

  get isDone(): boolean {
    return this.isFull || this.ended >= this.#query.endLine;
  }

  push(piece: Buffer): void {
    for (let at = 0; at < piece.length;) {
      const feed = feedAfter(piece, at, this.#encoding);
      const end = feed ?? piece.length;
      const room = MAX_LINE_BYTES - this.#lineBytes;
      // A copy, since the piece is reused.
      if (room > 0 && this.ended >= this.#query.startLine - 1 && !this.isDone)
        this.#shown.push(Buffer.from(piece.subarray(at, Math.min(end, at + room))));
      this.#lineBytes += end - at;
      if (feed !== undefined) this.#endLine(true);
      at = end;
    }
  }

  /** Ends a last line without a line end, and returns the number of lines. */
  end(): number {
    if (this.#lineBytes > 0) this.#endLine(false);
    return this.ended;
  }

  #endLine(hasFeed: boolean): void {
    if (this.ended >= this.#query.startLine - 1 && !this.isDone) this.#take(hasFeed);
    this.ended++;
    this.#lineBytes = 0;
  }

  #take(hasFeed: boolean): void {
    const bytes = Buffer.concat(this.#shown.splice(0));
    const isCut = bytes.length < this.#lineBytes;
    const valid = isCut ? bytes.subarray(0, wholeEnd(bytes, this.#encoding)) : bytes;
    const mark = `… [line cut: ${this.#lineBytes - valid.length} more bytes]${hasFeed ? '\n' : ''}`;
    const text = `${decodeText(valid, this.#encoding)}${isCut ? mark : ''}`;
    this.#bytesLeft -= Buffer.byteLength(text);
    this.isFull = this.texts.length > 0 && this.#bytesLeft < 0;
    if (this.isFull) return;
    this.texts.push(text);
    this.isMisread ||= !isValidText(valid, this.#encoding);
  }
}

function tooLarge(path: string, line: number, scanned: number): BridgeError {
  return new BridgeError(
    'FILE_TOO_LARGE',
    `Line ${line} of '${oneLine(path, SHOWN_CHARS)}' was not reached within ${SCAN_LIMIT_MS / 1_000} s; ${scanned} lines were scanned.`,
    'Read lines nearer to the beginning, or search for what you need with search_files.',
  );
}
