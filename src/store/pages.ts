import { constants } from 'node:fs';
import { open, readdir, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { BridgeError, ignoreMissing, systemCodeOf } from '../base/errors.js';
import { invalidCursor } from '../base/input.js';
import { oneLine, wholeUtf8End } from '../base/text.js';

/** What is read in place of a log that the task wrote and that is gone. */
export const LOG_IS_GONE = 'The log is not there: it was removed or replaced.\n';
const SHOWN_CHARS = 400;
/** Nothing is there, or something that is no file: a folder, a link, a socket. */
const NO_FILE: readonly (string | undefined)[] = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EOPNOTSUPP'];
const GONE_NOTE = /^\[The log was rotated: its first \d{1,15} bytes are gone\]\n/;
/** More than the note takes. */
const GONE_NOTE_BYTES = 80;
const NEWLINE = 0x0a;

/** A part of all that was written, in a file. */
interface Part {
  /** Offset of its first byte in all that was written, and behind its last one. */
  readonly start: number;
  readonly end: number;
  /** Up to `length` bytes from an offset on; undefined where the file was removed meanwhile. */
  read(offset: number, length: number): Promise<Buffer | undefined>;
}

/** Up to `maxBytes` from an offset on, from as many parts as it takes; less before a gap. */
async function readAcross(parts: readonly Part[], from: number, maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let at = from;
  for (const part of parts) {
    const length = Math.min(part.end, from + maxBytes) - at;
    if (length <= 0) continue;
    const piece = part.start > at ? undefined : await part.read(at, length);
    if (piece === undefined) break;
    pieces.push(piece);
    at += piece.length;
  }
  return Buffer.concat(pieces);
}

/** Up to `length` bytes from a position of a file on. */
export async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

/** A file of a pair that rotates. */
export interface OpenFile {
  readonly file: FileHandle;
  readonly size: number;
  /** Inode and time of birth: an inode alone is soon given to the next file. */
  readonly id: string;
}

/** Calls `act` with the files of a pair that rotates, `path.1` before `path`, as far as they are there. Throws errors of the system. */
export async function withPair<T>(path: string, act: (files: readonly OpenFile[]) => Promise<T>): Promise<T> {
  const files: OpenFile[] = [];
  try {
    // The newer one first: if the writer rotates in between, the same file is found again under the older name.
    for (const name of [path, `${path}.1`]) {
      const opened = await openFile(name);
      if (opened !== undefined) files.unshift(opened);
    }
    const [older, newer] = files;
    return await act(older?.id === newer?.id ? files.slice(0, 1) : files);
  } finally {
    for (const { file } of files) await file.close();
  }
}

/** Undefined for what is no file: a log is in the project, where any program may replace it by a link or a FIFO. */
async function openFile(path: string): Promise<OpenFile | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    if (NO_FILE.includes(systemCodeOf(error))) return undefined;
    throw error;
  }
  const facts = await file.stat();
  if (facts.isFile()) return { file, size: facts.size, id: `${facts.ino}-${Math.trunc(facts.birthtimeMs)}` };
  await file.close();
  return undefined;
}

/** The first line of a log file of which older files are gone. `goneBytes` were written before the file before this one. */
export function goneNote(goneBytes: number): string {
  return goneBytes === 0 ? '' : `[The log was rotated: its first ${goneBytes} bytes are gone]\n`;
}

export interface LogPage {
  readonly text: string;
  /** Where the next page begins. */
  readonly cursor: string;
  readonly more: boolean;
  readonly totalBytes: number;
  /** There is no file. */
  readonly isMissing?: boolean;
}

/** A file of a log, without the note at its beginning. Offsets count from the oldest file that is there. */
interface LogPart extends Part {
  readonly id: string;
  readonly note: string;
}

/**
 * A page of a log that may have rotated (`path.1` holds the older part). A cursor names a file and a place in it
 * (`<file>:<offset>`), so it stays right when the log rotates meanwhile; one whose file is gone goes on with the oldest
 * part that is left; `0` or `0:0` is the beginning, where the page says how much is gone before it. Without a cursor the page is the
 * newest part, from the beginning of a line. Pages begin and end between characters; a missing log is empty. Throws NOT_READABLE.
 */
export async function readLogPage(
  path: string,
  cursor: string | undefined,
  maxBytes: number,
): Promise<LogPage> {
  try {
    return await withPair(path, async (files) => logPage(await logParts(files), cursor, maxBytes));
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined || error instanceof BridgeError) throw error;
    throw new BridgeError(
      'NOT_READABLE',
      `The log ${oneLine(path, SHOWN_CHARS)} cannot be opened (${code}).`,
      'Look at the permissions of the file and of its folders.',
      { cause: error },
    );
  }
}

async function logParts(files: readonly OpenFile[]): Promise<LogPart[]> {
  const parts: LogPart[] = [];
  for (const { file, size, id } of files) {
    const head = await readAt(file, 0, GONE_NOTE_BYTES);
    const [note = ''] = GONE_NOTE.exec(head.toString()) ?? [];
    const start = parts.at(-1)?.end ?? 0;
    const read = (offset: number, length: number): Promise<Buffer> =>
      readAt(file, note.length + offset - start, length);
    parts.push({ start, end: start + Math.max(0, size - note.length), id, note, read });
  }
  return parts;
}

async function logPage(
  parts: readonly LogPart[],
  cursor: string | undefined,
  maxBytes: number,
): Promise<LogPage> {
  const { end: totalBytes = 0, note = '' } = parts.at(-1) ?? {};
  const asked = cursor === undefined ? Math.max(0, totalBytes - maxBytes) : offsetOf(cursor, parts);
  const from = asked ?? 0;
  const isWhole = cursor === undefined && note.length + totalBytes <= maxBytes;
  const top = isWhole || (asked === undefined && note.length <= maxBytes) ? note : '';
  // One byte before the newest part shows whether a line begins there.
  const before = cursor === undefined && from > 0 ? 1 : 0;
  const bytes = await readAcross(parts, from - before, maxBytes - top.length + before);
  const start = before === 0 ? 0 : firstLine(bytes);
  const end = wholeUtf8End(bytes);
  return {
    text: top + bytes.toString('utf8', start, end),
    cursor: cursorAt(from - before + end, parts),
    more: from - before + bytes.length < totalBytes,
    totalBytes,
    ...(parts.length === 0 && { isMissing: true }),
  };
}

/** Undefined for the beginning, before the note. */
function offsetOf(cursor: string, parts: readonly LogPart[]): number | undefined {
  if (cursor === '0') return undefined;
  const [, file, place] = /^(\d{1,20}(?:-\d{1,15})?):(\d{1,15})$/.exec(cursor) ?? [];
  if (place === undefined) throw invalidCursor();
  const part = parts.find(({ id }) => id === file);
  return part && Math.max(part.start, Math.min(part.start + Number(place) - part.note.length, part.end));
}

function cursorAt(offset: number, parts: readonly LogPart[]): string {
  const part = parts.find(({ end }) => offset < end) ?? parts.at(-1);
  return part === undefined ? '0:0' : `${part.id}:${part.note.length + offset - part.start}`;
}

/** The beginning of the first line that begins after byte 0; of the first character in a page within one line. */
function firstLine(bytes: Buffer): number {
  const start = bytes.indexOf(NEWLINE) + 1;
  return start > 0 && start < bytes.length ? start : 1 + tornStart(bytes.subarray(1));
}

/** How many bytes at the beginning belong to a character that began before; none where it is no UTF-8. */
export function tornStart(bytes: Uint8Array): number {
  const lead = bytes.subarray(0, 4).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return Math.max(0, lead);
}

/** Which bytes of a stream can be read. */
export interface Extent {
  /** Offset of the oldest byte that is stored. */
  readonly start: number;
  /** Offset behind the newest. */
  readonly end: number;
  /** Bytes before and between what is stored: dropped to keep the bound, or refused by the disk. */
  readonly missingBytes: number;
}

/** The file of a stream whose first byte has this offset: what is missing between two files is known to every reader. */
export function segmentPath(folder: string, stream: string, start: number): string {
  return join(folder, `${stream}.${start}`);
}

/** Reads a stream from its files, while it is written or later, in this process or another. */
export class OutputReader {
  readonly #folder: string;
  readonly #stream: string;

  constructor(folder: string, stream: string) {
    this.#folder = folder;
    this.#stream = stream;
  }

  async extent(): Promise<Extent> {
    const segments = await this.#segments();
    const kept = segments.reduce((sum, { start, end }) => sum + end - start, 0);
    const end = segments.at(-1)?.end ?? 0;
    return { start: segments[0]?.start ?? end, end, missingBytes: end - kept };
  }

  /** Up to `maxBytes` from the offset on, or from the next byte that is stored, `from`; less where something is missing. */
  async read(offset: number, maxBytes: number): Promise<{ readonly from: number; readonly bytes: Buffer }> {
    const segments = (await this.#segments()).filter(({ end }) => end > offset);
    const [first] = segments;
    const from = Math.max(offset, first?.start ?? offset);
    const bytes = await readAcross(segments, from, maxBytes);
    // Removed meanwhile, as the oldest: what follows it is read instead.
    if (first !== undefined && bytes.length === 0 && maxBytes > 0) return this.read(first.end, maxBytes);
    return { from, bytes };
  }

  /** The kept parts, oldest first; none while nothing was printed. What lies between two of them is lost. */
  async #segments(): Promise<Part[]> {
    const names = (await readdir(this.#folder).catch(ignoreMissing)) ?? [];
    const starts = names
      .filter((name) => name.startsWith(`${this.#stream}.`))
      .map((name) => Number(name.slice(this.#stream.length + 1)))
      .filter((start) => Number.isSafeInteger(start))
      .sort((a, b) => a - b);
    const segments = await Promise.all(
      starts.map(async (start, index): Promise<Part[]> => {
        const path = segmentPath(this.#folder, this.#stream, start);
        const facts = await stat(path).catch(ignoreMissing);
        const end = Math.min(start + (facts?.size ?? 0), starts[index + 1] ?? Infinity);
        return facts === undefined
          ? []
          : [{ start, end, read: (at, length) => readFileAt(path, at - start, length) }];
      }),
    );
    return segments.flat();
  }
}

async function readFileAt(path: string, position: number, length: number): Promise<Buffer | undefined> {
  const file = await open(path, 'r').catch(ignoreMissing);
  try {
    return file && (await readAt(file, position, length));
  } finally {
    await file?.close();
  }
}
