// Pure.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import { cursorText, readCursor } from '../../base/input.js';
import { headBytes, oneLine } from '../../base/text.js';
import type { OpenedPath } from '../../projects/opened-path.js';
import {
  decodeText,
  encodeText,
  feedAfter,
  isValidText,
  markBytes,
  MAX_READ_BYTES,
  misreadNote,
  takenEncoding,
  wholeEnd,
  type TextEncoding,
} from './text-encoding.js';

const SHOWN_CHARS = 400;
/** Limit for counting the lines of a file for a page; in this time a disk reads a GB. */
const COUNT_LIMIT_MS = 1_000;
/** What is read of a file at once, and how much of it is a piece. */
const READ_BYTES = 1_048_576;
const CHUNK_BYTES = 65_536;
const STAMP_CHARS = 10;

/** The start of a page: its line, from 1, and the characters of the file before it. */
const positionSchema = z.strictObject({ line: z.int().min(1), offset: z.int().min(0), stamp: z.string() });

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
  const stamp = stampOf(opened);
  const start = query.cursor === undefined ? { line: 1, offset: 0 } : positionOf(query.cursor, stamp);
  const sizeBytes = Number(opened.stats.size);
  const { bytes, encoding } = await readHead(opened, MAX_READ_BYTES);
  const isWhole = bytes.length >= sizeBytes;
  const body = bytes.subarray(markBytes(encoding), isWhole ? bytes.length : wholeEnd(bytes, encoding));
  const text = decodeText(body, encoding);
  const content = pageOf(text.slice(start.offset), query, isWhole);
  if (content.includes('\0')) throw binaryFile(opened.path);
  const end = start.offset + content.length;
  const next = { line: start.line + content.split('\n').length - 1, offset: end, stamp };
  const truncated = end < text.length || !isWhole;
  // The last line of what was read may continue.
  const isPastLimit = end >= (isWhole ? text.length : text.lastIndexOf('\n') + 1 || text.length);
  const misread = content.includes('\ufffd') && !isValidText(body, encoding);
  const before = text.slice(0, end);
  const left = (): number =>
    sizeBytes -
    (encoding === 'utf-8' ? Buffer.byteLength(before) : encodeText(before, encoding, bytes).length);
  const notes = [
    ...(truncated ? [leftNote(left(), next.line, isPastLimit)] : []),
    ...(misread ? [misreadNote(encoding)] : []),
  ];
  return {
    path: opened.path,
    content,
    lines: await countLines(isWhole ? [body] : piecesOf(opened, markBytes(encoding)), encoding, clock),
    sizeBytes,
    encoding,
    sha256: isWhole ? createHash('sha256').update(bytes).digest('hex') : undefined,
    truncated,
    cursor: truncated && !isPastLimit ? cursorText(next) : undefined,
    note: notes.length === 0 ? undefined : notes.join(' '),
  };
}

/** Up to the last line end that fits, or a piece of a line that is longer than a page. */
function pageOf(text: string, { maxBytes, maxLines }: PageQuery, isWhole: boolean): string {
  const fits = headBytes(text, maxBytes);
  const lastFeed = fits.lastIndexOf('\n') + 1;
  const piece = lastFeed === 0 || (isWhole && fits.length === text.length) ? fits : fits.slice(0, lastFeed);
  if (maxLines === undefined) return piece;
  const lines = piece.split('\n');
  return lines.length <= maxLines ? piece : `${lines.slice(0, maxLines).join('\n')}\n`;
}

function leftNote(leftBytes: number, line: number, isPastLimit: boolean): string {
  const left = `${leftBytes} bytes are left`;
  return isPastLimit
    ? `Only the first ${MAX_READ_BYTES} bytes are read, ${left}: continue with read_file_range from line ${line}.`
    : `${left}, from line ${line} on: pass cursor.`;
}

/** Identifies a file and its content: equal stamps mean equal bytes, unless the file changed within one clock tick. */
function stampOf({ stats }: OpenedPath): string {
  const facts = [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join('-');
  return createHash('sha256').update(facts).digest('base64url').slice(0, STAMP_CHARS);
}

function positionOf(cursor: string, now: string): { readonly line: number; readonly offset: number } {
  const { line, offset, stamp } = readCursor(positionSchema, cursor);
  if (stamp === now) return { line, offset };
  throw new BridgeError(
    'FILE_CHANGED',
    `The file changed after the page with this cursor, which ended before line ${line}.`,
    'Read it again without a cursor, or continue with read_file_range.',
  );
}

export function binaryFile(path: string): BridgeError {
  return new BridgeError(
    'BINARY_FILE',
    `Cannot read binary file: ${oneLine(path, SHOWN_CHARS)}.`,
    'Only text in UTF-8, UTF-16 with a byte order mark, or Latin-1 can be read.',
  );
}

/** The first bytes of a file, at most `maxBytes`, and the encoding that they have. Throws BINARY_FILE. */
export async function readHead(
  { handle, stats, path }: OpenedPath,
  maxBytes: number,
): Promise<{ readonly bytes: Buffer; readonly encoding: TextEncoding }> {
  const size = Number(stats.size);
  const buffer = Buffer.allocUnsafeSlow(Math.min(size, maxBytes));
  const bytes = buffer.subarray(0, await readFull(handle, buffer, 0));
  const encoding = takenEncoding(bytes, size);
  if (encoding === undefined) throw binaryFile(path);
  return { bytes, encoding };
}

/** The lines of a file; null when counting takes too long. */
async function countLines(pieces: Buffer[] | AsyncIterable<Buffer>, encoding: TextEncoding, clock: Clock) {
  const untilMs = clock.monotonicMs() + COUNT_LIMIT_MS;
  let lines = 0;
  let isInLine = false;
  for await (const piece of pieces) {
    if (clock.monotonicMs() > untilMs) return null;
    for (let at = 0; at < piece.length;) {
      const feed = feedAfter(piece, at, encoding);
      if (!isInLine) lines++;
      isInLine = feed === undefined;
      at = feed ?? piece.length;
    }
  }
  return lines;
}

/** The bytes of a file from an offset on, up to its size. Each piece is valid until the next one. */
export async function* piecesOf({ handle, stats }: OpenedPath, from: number): AsyncGenerator<Buffer> {
  const size = Number(stats.size);
  const buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, size));
  for (let at = from; at < size;) {
    const filled = await readFull(handle, buffer.subarray(0, size - at), at);
    if (filled === 0) return;
    for (let piece = 0; piece < filled; piece += CHUNK_BYTES)
      yield buffer.subarray(piece, Math.min(piece + CHUNK_BYTES, filled));
    at += filled;
  }
}

/** Fills `buffer` from `position`, up to the end of the file; returns the number of bytes. */
async function readFull(handle: OpenedPath['handle'], buffer: Buffer, position: number): Promise<number> {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}
