import { isAscii } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import { oneLine } from '../../base/text/text.js';
import type { OpenedPath } from '../../projects/opened-path.js';
import { countLines } from './count-lines.js';
import { countNewlines } from './count-newlines.js';
import { fileCursor, placeOfCursor, type FilePlace } from './file-cursor.js';
import type { FileFacts, FileFactsCache } from './file-facts.js';
import { fileStamp } from './file-stamp.js';
import { feedAfter, lastFeedEnd } from './line-feeds.js';
import { readFull } from './line-index.js';
import {
  decodeText,
  markBytes,
  textEncodingOf,
  unitBytes,
  wholeEnd,
  type TextEncoding,
} from './text-encoding.js';

/** Larger files are read by ranges; of those the beginning is given. */
const MAX_READ_BYTES = 1_048_576;
/** What of a large file tells its encoding. */
const SAMPLE_BYTES = 65_536;
const SHOWN_CHARS = 400;

export interface PageQuery {
  readonly cursor?: string | undefined;
  /** Give at most so many lines. */
  readonly maxLines?: number | undefined;
  /** Size of the content, bytes in UTF-8. */
  readonly maxBytes: number;
}

export interface FilePage {
  readonly path: string;
  readonly content: string;
  /** True when every character of the content is one of ASCII. */
  readonly isAscii: boolean;
  /** Lines of the whole file; null where counting takes too long. */
  readonly lines: number | null;
  readonly sizeBytes: number;
  readonly encoding: TextEncoding;
  /** Of the whole file; unknown beyond `MAX_READ_BYTES`. */
  readonly sha256: string | undefined;
  /** True when the file goes on after the content. */
  readonly truncated: boolean;
  readonly cursor: string | undefined;
  readonly note: string | undefined;
}

/**
 * A page of a text file: whole lines where one fits. Reads `MAX_READ_BYTES` at most, whatever the file. Throws BINARY_FILE,
 * and for the cursor INVALID_ARGUMENTS, FILE_CHANGED.
 */
export async function readPage(
  opened: OpenedPath,
  query: PageQuery,
  { cache, clock }: { readonly cache: FileFactsCache; readonly clock: Clock },
): Promise<FilePage> {
  const stamp = fileStamp(opened.stats);
  const sizeBytes = Number(opened.stats.size);
  const limit = Math.min(sizeBytes, MAX_READ_BYTES);
  const asked = query.cursor === undefined ? undefined : placeOfCursor(query.cursor, stamp);
  const known = cache.get(opened.stats);
  const isKnown = known !== undefined && (known.whole !== undefined || sizeBytes > MAX_READ_BYTES);
  const learned = isKnown ? { facts: known, bytes: undefined } : await learn(opened, known);
  const { facts } = learned;
  if (!isKnown) cache.set(opened.stats, facts);

  const place = asked ?? { line: 1, offset: markBytes(facts.encoding) };
  const end = Math.min(limit, place.offset + rawBytes(query.maxBytes, facts.encoding));
  const bytes = learned.bytes?.subarray(place.offset, end) ?? (await readPiece(opened, place, end));
  const isEnd = place.offset + bytes.length >= sizeBytes;
  const piece = cutPiece(bytes, { encoding: facts.encoding, isEnd, maxLines: query.maxLines });
  const next: FilePlace = { line: place.line + piece.feeds, offset: place.offset + piece.bytes.length };
  const isPlain = unitBytes(facts.encoding) === 1 && isAscii(piece.bytes);
  // ASCII is the same in all of them, and need not be decoded.
  const content = isPlain ? piece.bytes.toString('latin1') : decodeText(piece.bytes, facts.encoding);
  if (content.includes('\0')) throw binaryFile(opened.path);
  const truncated = next.offset < sizeBytes && bytes.length > 0;
  const isAtLimit = truncated && limit < sizeBytes && place.offset + bytes.length >= limit;
  const isPastLimit = isAtLimit && !piece.isShortened;
  const { whole, encoding } = facts;
  return {
    path: opened.path,
    content,
    isAscii: isPlain,
    lines: whole === undefined ? await countLines(opened, { cache, clock, encoding }) : whole.lines,
    sizeBytes,
    encoding,
    sha256: whole?.sha256,
    truncated,
    cursor: truncated && !isPastLimit ? fileCursor(next, stamp) : undefined,
    note: truncated ? leftNote(sizeBytes - next.offset, next.line, isPastLimit) : undefined,
  };
}

function leftNote(leftBytes: number, line: number, isPastLimit: boolean): string {
  const left = `${leftBytes} bytes are left`;
  return isPastLimit
    ? `Only the first ${MAX_READ_BYTES} bytes are read, ${left}: go on by read_file_range from line ${line}.`
    : `${left}, from line ${line} on: pass cursor.`;
}

export function binaryFile(path: string): BridgeError {
  return new BridgeError(
    'BINARY_FILE',
    `Cannot read binary file: ${oneLine(path, SHOWN_CHARS)}.`,
    'Only text in UTF-8, UTF-16 with a byte order mark, or Latin-1 is read.',
  );
}

/** The encoding of a file by its beginning. Throws BINARY_FILE. */
export async function sampledEncoding(opened: OpenedPath): Promise<TextEncoding> {
  const size = Number(opened.stats.size);
  const buffer = Buffer.allocUnsafe(Math.min(size, SAMPLE_BYTES));
  const filled = await readFull(opened.handle, buffer, 0, size);
  const encoding = textEncodingOf(buffer.subarray(0, filled), filled === size);
  if (encoding === undefined) throw binaryFile(opened.path);
  return encoding;
}

async function learn(
  opened: OpenedPath,
  known: FileFacts | undefined,
): Promise<{ readonly facts: FileFacts; readonly bytes: Buffer | undefined }> {
  const size = Number(opened.stats.size);
  if (size > MAX_READ_BYTES)
    return { facts: { ...known, encoding: await sampledEncoding(opened) }, bytes: undefined };
  const buffer = Buffer.allocUnsafeSlow(size);
  const filled = await readFull(opened.handle, buffer, 0, size);
  const bytes = buffer.subarray(0, filled);
  const encoding = textEncodingOf(bytes, true);
  if (encoding === undefined) throw binaryFile(opened.path);
  const feeds = countNewlines(bytes, encoding);
  const hasTail = lastFeedEnd(bytes, encoding) < filled && filled > markBytes(encoding);
  const whole = {
    lines: feeds + (hasTail ? 1 : 0),
    sha256: createHash('sha256').update(bytes).digest('hex'),
  };
  return { facts: { ...known, encoding, whole }, bytes };
}

async function readPiece(opened: OpenedPath, place: FilePlace, end: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(0, end - place.offset));
  return buffer.subarray(0, await readFull(opened.handle, buffer, place.offset, end));
}

/** How many bytes of a file surely become at most `maxBytes` of UTF-8. */
function rawBytes(maxBytes: number, encoding: TextEncoding): number {
  if (encoding === 'latin-1') return Math.floor(maxBytes / 2);
  if (encoding === 'utf-16le' || encoding === 'utf-16be') return Math.floor(maxBytes / 3) * 2;
  return maxBytes;
}

/** The part of `bytes` that a page shows: to the last line end in it, or within a line that is longer than a page. */
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
