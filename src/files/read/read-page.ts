// Pure.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import { cursorText, readCursor } from '../../base/input.js';
import { oneLine, wholeUtf8End } from '../../base/text.js';
import type { OpenedPath } from '../../projects/opened-path.js';
import {
  feedsIn,
  isValidText,
  LINE_FEED,
  markBytes,
  MAX_READ_BYTES,
  misreadNote,
  takenEncoding,
  utf8Maker,
  type TextEncoding,
} from './text-encoding.js';

const SHOWN_CHARS = 400;
/** Limit for counting the lines of a file for a page; in this time a disk reads a GB. */
const COUNT_LIMIT_MS = 1_000;
/** What is read of a file at once, and how much of it is a piece. */
const READ_BYTES = 1_048_576;
const CHUNK_BYTES = 65_536;
const STAMP_CHARS = 10;

/** The start of a page: its line, from 1, and the bytes of UTF-8 before it. */
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
  readonly isValid: boolean;
  /** True when its bytes are those that pages show. */
  readonly isPlain: boolean;
  /** Pages end here, in UTF-8: the last line of what was read may continue. */
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
  const { line, at } = query.cursor === undefined ? { line: 1, at: 0 } : positionOf(query.cursor, stamp);
  const sizeBytes = Number(opened.stats.size);
  const same = at > 0 && known?.stamp === stamp && known.isPlain ? known : undefined;
  const { facts, text } =
    same === undefined ? await firstRead(opened, clock) : { facts: same, text: undefined };
  const { encoding, limit, isWhole, isValid, lines, sha256 } = facts;
  const mark = markBytes(encoding);
  const size = Math.max(0, Math.min(limit - at, query.maxBytes));
  const bytes = text?.subarray(at, at + size) ?? (await readAt(opened, mark + at, size));
  const shown = pageOf(bytes, at + size === limit, query.maxLines);
  const content = shown.toString();
  if (content.includes('\0')) throw binaryFile(opened.path);
  const next = { line: line + feedsIn(shown), at: at + shown.length, stamp };
  const isPastLimit = next.at >= limit;
  const truncated = !isWhole || !isPastLimit;
  const before = (): number => {
    const isUtf8 = encoding.startsWith('utf-8');
    if (text === undefined || (isUtf8 && isValid)) return next.at;
    const read = text.toString('utf8', 0, next.at);
    // U+FFFD has three bytes here, and stands for one or more of the file.
    return isUtf8
      ? next.at - 2 * (read.split('\ufffd').length - 1)
      : read.length * (encoding === 'latin-1' ? 1 : 2);
  };
  const notes = [
    ...(truncated ? [leftNote(sizeBytes - mark - before(), next.line, isPastLimit)] : []),
    ...(content.includes('\ufffd') && !isValid ? [misreadNote(encoding)] : []),
  ];
  return {
    ...{ path: opened.path, content, lines, sizeBytes, encoding, sha256, truncated },
    cursor: isPastLimit ? undefined : cursorText(next),
    note: notes.length === 0 ? undefined : notes.join(' '),
  };
}

/** Reads what pages may have, as UTF-8, and what is known of the file from it. */
async function firstRead(opened: OpenedPath, clock: Clock) {
  const { bytes, encoding } = await readHead(opened, MAX_READ_BYTES);
  const isWhole = bytes.length >= Number(opened.stats.size);
  const rest = bytes.subarray(markBytes(encoding));
  const body = isWhole || !encoding.startsWith('utf-8') ? rest : rest.subarray(0, wholeUtf8End(rest));
  const isValid = isValidText(body, encoding);
  const made = utf8Maker(encoding)(body, isWhole);
  const text = isValid ? made : Buffer.from(made.toString());
  const facts: FileFacts = {
    ...{ stamp: stampOf(opened), encoding, isWhole, isValid, isPlain: text === body },
    limit: isWhole ? text.length : text.lastIndexOf(LINE_FEED) + 1 || text.length,
    lines: await countLines(isWhole ? [{ piece: text }] : piecesOf(opened, encoding), clock),
    sha256: isWhole ? createHash('sha256').update(bytes).digest('hex') : undefined,
  };
  known = facts;
  return { facts, text };
}

/** The beginning of `bytes` up to the last line end in it, or a piece of a line that is longer than a page. */
function pageOf(bytes: Buffer, isLast: boolean, maxLines = Infinity): Buffer {
  const whole = isLast ? bytes.length : bytes.lastIndexOf(LINE_FEED) + 1 || wholeUtf8End(bytes);
  let end = maxLines === Infinity ? whole : 0;
  for (let line = 0; line < maxLines && end < whole; line++) end = bytes.indexOf(LINE_FEED, end) + 1 || whole;
  return bytes.subarray(0, Math.min(end, whole));
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

/** A piece of a file as UTF-8, valid until the next one, and the bytes of the file that follow it. */
interface Piece {
  readonly piece: Buffer;
  readonly left?: number;
}

/** The lines of a file; null when counting takes too long. */
async function countLines(pieces: Piece[] | AsyncIterable<Piece>, clock: Clock): Promise<number | null> {
  const untilMs = clock.monotonicMs() + COUNT_LIMIT_MS;
  let lines = 0;
  let isInLine = false;
  for await (const { piece } of pieces) {
    if (clock.monotonicMs() > untilMs) return null;
    lines += feedsIn(piece);
    if (piece.length > 0) isInLine = piece.at(-1) !== LINE_FEED;
  }
  return isInLine ? lines + 1 : lines;
}

/** The text of a file without its byte order mark, up to its size. */
export async function* piecesOf({ handle, stats }: OpenedPath, encoding: TextEncoding) {
  const size = Number(stats.size);
  const buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, size));
  const utf8 = utf8Maker(encoding);
  for (let at = markBytes(encoding); at < size;) {
    const filled = await readFull(handle, buffer.subarray(0, size - at), at);
    if (filled === 0) return;
    for (let from = 0; from < filled; from += CHUNK_BYTES) {
      const piece = buffer.subarray(from, Math.min(from + CHUNK_BYTES, filled));
      const left = size - at - from - piece.length;
      yield { piece: utf8(piece, left === 0), left };
    }
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
