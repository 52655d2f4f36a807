// Pure.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import { cursorText, readCursor } from '../../base/input.js';
import { oneLine } from '../../base/text.js';
import type { OpenedPath } from '../../projects/opened-path.js';
import {
  decodeText,
  feedAfter,
  feedsIn,
  isValidText,
  lastFeedEnd,
  markBytes,
  MAX_READ_BYTES,
  misreadNote,
  takenEncoding,
  unitBytes,
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

/** The start of a page: its line, from 1, and the bytes of the file before it. */
const positionSchema = z.strictObject({ line: z.int().min(1), at: z.int().min(0), stamp: z.string() });

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

/** What is known of a file from all of it. */
interface FileFacts extends Pick<FilePage, 'encoding' | 'lines' | 'sha256'> {
  readonly stamp: string;
  readonly isWhole: boolean;
  /** Pages end here: the last line of what was read may continue. */
  readonly limit: number;
}

/** Those of the last file that was read from its beginning: the pages after the first one say the same. */
let known: FileFacts | undefined;

/**
 * Reads a page of a text file, with whole lines if at least one fits; decodes that page alone. Reads at most `MAX_READ_BYTES`. Throws
 * BINARY_FILE, and for the cursor INVALID_ARGUMENTS, FILE_CHANGED.
 */
export async function readPage(opened: OpenedPath, query: PageQuery, clock: Clock): Promise<FilePage> {
  const stamp = stampOf(opened);
  const given = query.cursor === undefined ? undefined : positionOf(query.cursor, stamp);
  const sizeBytes = Number(opened.stats.size);
  const same = given !== undefined && known?.stamp === stamp ? known : undefined;
  const { facts, head } =
    same === undefined ? await firstRead(opened, clock) : { facts: same, head: undefined };
  const { encoding, limit, isWhole, lines, sha256 } = facts;
  const { line, at } = given ?? { line: 1, at: markBytes(encoding) };
  const left = Math.max(0, limit - at);
  const fits = Math.min(left, query.maxBytes * unitBytes(encoding));
  const bytes = head?.subarray(at, at + fits) ?? (await readAt(opened, at, fits));
  const { content, shown } = pageOf(bytes, bytes.length === left, query, encoding);
  if (content.includes('\0')) throw binaryFile(opened.path);
  const next = { line: line + feedsIn(shown, encoding), at: at + shown.length, stamp };
  const isPastLimit = next.at >= limit;
  const truncated = !isWhole || !isPastLimit;
  const notes = [
    ...(truncated ? [leftNote(sizeBytes - next.at, next.line, isPastLimit)] : []),
    ...(content.includes('\ufffd') && !isValidText(shown, encoding) ? [misreadNote(encoding)] : []),
  ];
  return {
    ...{ path: opened.path, content, lines, sizeBytes, encoding, sha256, truncated },
    cursor: isPastLimit ? undefined : cursorText(next),
    note: notes.length === 0 ? undefined : notes.join(' '),
  };
}

/** Reads what a page may have, and what is known of the file from it. */
async function firstRead(opened: OpenedPath, clock: Clock) {
  const { bytes, encoding } = await readHead(opened, MAX_READ_BYTES);
  const isWhole = bytes.length >= Number(opened.stats.size);
  const mark = markBytes(encoding);
  const facts: FileFacts = {
    stamp: stampOf(opened),
    encoding,
    isWhole,
    limit: isWhole ? bytes.length : lastFeedEnd(bytes, encoding) || wholeEnd(bytes, encoding),
    lines: await countLines(isWhole ? [bytes.subarray(mark)] : piecesOf(opened, mark), encoding, clock),
    sha256: isWhole ? createHash('sha256').update(bytes).digest('hex') : undefined,
  };
  known = facts;
  return { facts, head: bytes };
}

/** The beginning of `bytes` up to the last line end that fits, or a piece of a line that is longer than a page. */
function pageOf(bytes: Buffer, isLast: boolean, { maxBytes, maxLines }: PageQuery, encoding: TextEncoding) {
  for (let fits = bytes.length; ;) {
    const some = bytes.subarray(0, fits);
    const isAll = isLast && fits === bytes.length;
    const end = isAll ? fits : lastFeedEnd(some, encoding) || wholeEnd(some, encoding);
    const shown = some.subarray(0, headEnd(some.subarray(0, end), maxLines, encoding));
    const content = decodeText(shown, encoding);
    const size = Buffer.byteLength(content);
    if (size <= maxBytes) return { content, shown };
    // Characters may take more bytes in UTF-8 than in the file.
    fits = Math.floor((shown.length * maxBytes) / size);
  }
}

/** Where the first `maxLines` lines end. */
function headEnd(bytes: Buffer, maxLines: number | undefined, encoding: TextEncoding): number {
  let end = 0;
  for (let line = 0; line < (maxLines ?? 0); line++) end = feedAfter(bytes, end, encoding) ?? bytes.length;
  return maxLines === undefined ? bytes.length : end;
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

function positionOf(cursor: string, now: string): { readonly line: number; readonly at: number } {
  const { line, at, stamp } = readCursor(positionSchema, cursor);
  if (stamp === now) return { line, at };
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
export async function readHead(opened: OpenedPath, maxBytes: number) {
  const size = Number(opened.stats.size);
  const bytes = await readAt(opened, 0, Math.min(size, maxBytes));
  const encoding = takenEncoding(bytes, size);
  if (encoding === undefined) throw binaryFile(opened.path);
  return { bytes, encoding };
}

async function readAt({ handle }: OpenedPath, at: number, size: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(size);
  return buffer.subarray(0, await readFull(handle, buffer, at));
}

/** The lines of a file; null when counting takes too long. */
async function countLines(pieces: Buffer[] | AsyncIterable<Buffer>, encoding: TextEncoding, clock: Clock) {
  const untilMs = clock.monotonicMs() + COUNT_LIMIT_MS;
  let lines = 0;
  let isInLine = false;
  for await (const piece of pieces) {
    if (clock.monotonicMs() > untilMs) return null;
    lines += feedsIn(piece, encoding);
    isInLine = piece.length > 0 && lastFeedEnd(piece, encoding) < piece.length;
  }
  return isInLine ? lines + 1 : lines;
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
