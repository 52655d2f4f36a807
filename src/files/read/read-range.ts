import { isUtf8 } from 'node:buffer';
import type { Clock } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import { countedNoun, oneLine, wholeUtf8End } from '../../base/text.js';
import type { OpenedPath } from '../../projects/opened-path.js';
import { binaryFile, piecesOf, readHead } from './read-page.js';
import { feedsIn, LINE_FEED, misreadNote, SAMPLE_BYTES } from './text-encoding.js';

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
  const lines = new RangeLines(query, !encoding.startsWith('utf-8'));
  let isWhole = true;
  for await (const { piece, left } of piecesOf(opened, encoding)) {
    signal.throwIfAborted();
    if (!lines.isDone && clock.monotonicMs() > untilMs) throw tooLarge(path, startLine, lines.ended);
    if (lines.isDone && (left + piece.length > TOTAL_BYTES || clock.monotonicMs() > untilMs)) {
      isWhole = false;
      break;
    }
    lines.push(piece);
  }
  const total = lines.end();
  const totalLines = isWhole ? total : null;
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
  readonly #isMade: boolean;
  #bytesLeft: number;
  /** The shown part of the current line, and the size of all of it. */
  #shown: Buffer[] = [];
  #lineBytes = 0;

  /** `isMade`: the pieces were made UTF-8, so that it is not known whether U+FFFD is in the file or stands for what is broken. */
  constructor(query: RangeQuery, isMade: boolean) {
    this.#query = query;
    this.#isMade = isMade;
    this.#bytesLeft = query.maxBytes;
  }

  get isDone(): boolean {
    return this.isFull || this.ended >= this.#query.endLine;
  }

  push(piece: Buffer): void {
    const feeds = feedsIn(piece);
    // Nothing is cut where neither these lines nor the one that follows is in the range.
    if (this.isDone || this.ended + feeds < this.#query.startLine - 1) {
      this.ended += feeds;
      this.#lineBytes = piece.length - 1 - piece.lastIndexOf(LINE_FEED) + (feeds === 0 ? this.#lineBytes : 0);
      return;
    }
    for (let at = 0; at < piece.length;) {
      const feed = piece.indexOf(LINE_FEED, at);
      const end = feed === -1 ? piece.length : feed + 1;
      const room = MAX_LINE_BYTES - this.#lineBytes;
      // A copy, since the piece is reused.
      if (room > 0 && this.ended >= this.#query.startLine - 1 && !this.isDone)
        this.#shown.push(Buffer.from(piece.subarray(at, Math.min(end, at + room))));
      this.#lineBytes += end - at;
      if (feed !== -1) this.#endLine(true);
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
    const valid = isCut ? bytes.subarray(0, wholeUtf8End(bytes)) : bytes;
    const mark = `… [line cut: ${this.#lineBytes - valid.length} more bytes]${hasFeed ? '\n' : ''}`;
    const text = `${valid.toString()}${isCut ? mark : ''}`;
    this.#bytesLeft -= Buffer.byteLength(text);
    this.isFull = this.texts.length > 0 && this.#bytesLeft < 0;
    if (this.isFull) return;
    this.texts.push(text);
    this.isMisread ||= text.includes('\ufffd') && (this.#isMade || !isUtf8(valid));
  }
}

function tooLarge(path: string, line: number, scanned: number): BridgeError {
  return new BridgeError(
    'FILE_TOO_LARGE',
    `Line ${line} of '${oneLine(path, SHOWN_CHARS)}' was not reached within ${SCAN_LIMIT_MS / 1_000} s; ${scanned} lines were scanned.`,
    'Read lines nearer to the beginning, or search for what you need with search_files.',
  );
}
