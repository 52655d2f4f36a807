// Pure.
import { isAscii } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import { oneLine } from '../../base/text.js';
import type { OpenedPath } from '../../projects/opened-path.js';
import { fileCursor, positionOfCursor, type FilePosition } from './file-cursor.js';
import { fileStamp } from './file-stamp.js';
import { countNewlines, feedAfter, lastFeedEnd } from './line-feeds.js';
import { LineScan, readFull } from './line-scan.js';
import {
  decodeText,
  isValidText,
  markBytes,
  MAX_READ_BYTES,
  misreadNote,
  SAMPLE_BYTES,
  takenEncoding,
  unitBytes,
  wholeEnd,
  type TextEncoding,
} from './text-encoding.js';

const SHOWN_CHARS = 400;
/** Limit for counting the lines of a file for a page; in this time a disk reads a GB. */
const COUNT_LIMIT_MS = 1_000;

export interface PageQuery {
  readonly cursor?: string | undefined;
  /** Maximum number of lines. */
  readonly maxLines?: number | undefined;
  /** Maximum size of the content in bytes of UTF-8. */
  readonly maxBytes: number;
}

export interface FilePage {
  readonly path: string;
  readonly content: string;
  /** True when the content is only ASCII. */
  readonly isAscii: boolean;
  /** Lines of the whole file; null when counting takes too long. */
  readonly lines: number | null;
  readonly sizeBytes: number;
  readonly encoding: TextEncoding;
  /** Hash of the whole file; unknown beyond `MAX_READ_BYTES`. */
  readonly sha256: string | undefined;
  /** True when the file continues after the content. */
  readonly truncated: boolean;
  readonly cursor: string | undefined;
  readonly note: string | undefined;
}

/**
 * Reads a page of a text file, with whole lines if at least one fits. Reads at most `MAX_READ_BYTES`. Throws BINARY_FILE, and for
 * the cursor INVALID_ARGUMENTS, FILE_CHANGED.
 */
export async function readPage(opened: OpenedPath, query: PageQuery, clock: Clock): Promise<FilePage> {
  const stamp = fileStamp(opened.stats);
  const sizeBytes = Number(opened.stats.size);
  const limit = Math.min(sizeBytes, MAX_READ_BYTES);
  const requested = query.cursor === undefined ? undefined : positionOfCursor(query.cursor, stamp);
  const whole = sizeBytes > MAX_READ_BYTES ? undefined : await readWhole(opened);
  const encoding = whole?.encoding ?? (await sampledEncoding(opened));

  const start = requested ?? { line: 1, offset: markBytes(encoding) };
  const end = Math.min(limit, start.offset + rawBytes(query.maxBytes, encoding));
  const bytes = whole?.bytes.subarray(start.offset, end) ?? (await readPiece(opened, start, end));
  const isEnd = start.offset + bytes.length >= sizeBytes;
  const piece = cutPiece(bytes, { encoding, isEnd, maxLines: query.maxLines });
  const next: FilePosition = { line: start.line + piece.feeds, offset: start.offset + piece.bytes.length };
  const isPlain = unitBytes(encoding) === 1 && isAscii(piece.bytes);
  // ASCII is the same in all encodings and need not be decoded.
  const content = isPlain ? piece.bytes.toString('latin1') : decodeText(piece.bytes, encoding);
  if (content.includes('\0')) throw binaryFile(opened.path);
  const truncated = next.offset < sizeBytes && bytes.length > 0;
  const isAtLimit = truncated && limit < sizeBytes && start.offset + bytes.length >= limit;
  const isPastLimit = isAtLimit && !piece.isShortened;
  const notes = [
    ...(truncated ? [leftNote(sizeBytes - next.offset, next.line, isPastLimit)] : []),
    ...(isPlain || isValidText(piece.bytes, encoding) ? [] : [misreadNote(encoding)]),
  ];
  return {
    path: opened.path,
    content,
    isAscii: isPlain,
    lines: whole === undefined ? await countLines(opened, encoding, clock) : whole.lines,
    sizeBytes,
    encoding,
    sha256: whole?.sha256,
    truncated,
    cursor: truncated && !isPastLimit ? fileCursor(next, stamp) : undefined,
    note: notes.length === 0 ? undefined : notes.join(' '),
  };
}

function leftNote(leftBytes: number, line: number, isPastLimit: boolean): string {
  const left = `${leftBytes} bytes are left`;
  return isPastLimit
    ? `Only the first ${MAX_READ_BYTES} bytes are read, ${left}: continue with read_file_range from line ${line}.`
    : `${left}, from line ${line} on: pass cursor.`;
}

export function binaryFile(path: string): BridgeError {
  return new BridgeError(
    'BINARY_FILE',
    `Cannot read binary file: ${oneLine(path, SHOWN_CHARS)}.`,
    'Only text in UTF-8, UTF-16 with a byte order mark, or Latin-1 can be read.',
  );
}

/** Detects the encoding of a file from its beginning. Throws BINARY_FILE. */
export async function sampledEncoding(opened: OpenedPath): Promise<TextEncoding> {
  const size = Number(opened.stats.size);
  const buffer = Buffer.allocUnsafe(Math.min(size, SAMPLE_BYTES));
  const filled = await readFull(opened.handle, buffer, 0, size);
  const encoding = takenEncoding(buffer.subarray(0, filled), size);
  if (encoding === undefined) throw binaryFile(opened.path);
  return encoding;
}

/** The bytes of a file of at most `MAX_READ_BYTES` and what they say. Throws BINARY_FILE. */
async function readWhole(opened: OpenedPath) {
  const size = Number(opened.stats.size);
  const buffer = Buffer.allocUnsafeSlow(size);
  const filled = await readFull(opened.handle, buffer, 0, size);
  const bytes = buffer.subarray(0, filled);
  const encoding = takenEncoding(bytes, size);
  if (encoding === undefined) throw binaryFile(opened.path);
  const hasTail = lastFeedEnd(bytes, encoding) < filled && filled > markBytes(encoding);
  const lines = countNewlines(bytes, encoding) + (hasTail ? 1 : 0);
  return { bytes, encoding, lines, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/** Counts the lines of a larger file; null when it takes too long. */
async function countLines(opened: OpenedPath, encoding: TextEncoding, clock: Clock): Promise<number | null> {
  const scan = new LineScan(opened.handle, Number(opened.stats.size), encoding);
  const untilMs = clock.monotonicMs() + COUNT_LIMIT_MS;
  await scan.scan(() => clock.monotonicMs() > untilMs);
  return scan.lines();
}

async function readPiece(opened: OpenedPath, start: FilePosition, end: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(0, end - start.offset));
  return buffer.subarray(0, await readFull(opened.handle, buffer, start.offset, end));
}

/** How many bytes of a file can never take more than `maxBytes` in UTF-8. */
function rawBytes(maxBytes: number, encoding: TextEncoding): number {
  if (encoding === 'latin-1') return Math.floor(maxBytes / 2);
  if (encoding === 'utf-16le' || encoding === 'utf-16be') return Math.floor(maxBytes / 3) * 2;
  return maxBytes;
}

/** The part of `bytes` that a page shows: up to the last line end, or a piece of a line that is longer than a page. */
function cutPiece(
  bytes: Buffer,
  {
    encoding,
    isEnd,
    maxLines,
  }: {
    readonly encoding: TextEncoding;
    readonly isEnd: boolean;
    readonly maxLines: number | undefined;
  },
): { readonly bytes: Buffer; readonly feeds: number; readonly isShortened: boolean } {
  const lastFeed = isEnd ? bytes.length : lastFeedEnd(bytes, encoding);
  const end = lastFeed > 0 ? lastFeed : wholeEnd(bytes, encoding);
  const whole = bytes.subarray(0, end);
  if (maxLines === undefined)
    return { bytes: whole, feeds: countNewlines(whole, encoding), isShortened: false };
  let feeds = 0;
  for (let at = feedAfter(whole, 0, encoding); at !== undefined; at = feedAfter(whole, at, encoding)) {
    feeds++;
    if (feeds === maxLines) return { bytes: whole.subarray(0, at), feeds, isShortened: at < end };
  }
  return { bytes: whole, feeds, isShortened: false };
}
