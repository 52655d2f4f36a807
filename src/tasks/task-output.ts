import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { invalidCursor } from '../base/input.js';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { oneLine } from '../base/text.js';
import { GONE_NOTE_BYTES, readGoneNote } from '../store/gone-note.js';

/** A log that rotates this often within one page is read by its older part alone; the next page goes on from there. */
const MAX_OPENS = 10;
const SHOWN_CHARS = 400;
/** Nothing is there, or something that is no file. */
const NO_FILE: readonly (string | undefined)[] = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'];
/** What is read in place of a log that the task wrote and that is gone. */
export const LOG_IS_GONE = 'The log is not there: it was removed or replaced.\n';

export interface TextPage {
  readonly text: string;
  /** Where the next page begins. */
  readonly cursor: string;
  readonly more: boolean;
  readonly totalBytes: number;
  /** There is no file. */
  readonly isMissing?: boolean;
}

/**
 * A page of a log that may have rotated (`path.1` holds the older part). A cursor names a file and a place in it
 * (`<file>:<offset>`), so it stays right when the log rotates meanwhile; one whose file is gone goes on with the oldest
 * part that is left; `0` or `0:0` is the beginning. Without a cursor the page is the newest part, from the beginning of a line.
 * Pages begin and end between characters; a missing log is empty.
 */
export async function readLogPage(
  path: string,
  cursor: string | undefined,
  maxBytes: number,
): Promise<TextPage> {
  const parts = await openParts(path);
  try {
    const totalBytes = parts.reduce((sum, part) => sum + part.size, 0);
    const asked = cursor === undefined ? undefined : positionOf(cursor, parts);
    const notes = await joinedNotes(parts);
    const newest = Math.max(0, totalBytes - maxBytes);
    const isNewest = asked === undefined && newest > 0;
    const isWithTop = (asked ?? newest) === 0 && notes.top.length <= maxBytes;
    // One byte before the newest part shows whether a line begins there.
    const from = isNewest ? newest - 1 : afterSpan(Math.min(asked ?? 0, totalBytes), notes.spans);
    // Both notes take at least the room of one.
    const room = asked === undefined ? totalBytes : isWithTop ? maxBytes - notes.top.length : maxBytes;
    const bytes = await readAcross(parts, from, Math.min(room, totalBytes - from));
    const start = isNewest ? firstLine(bytes) : 0;
    const end = lastWhole(bytes);
    return {
      text: `${isWithTop ? notes.top : ''}${withoutSpans(bytes.subarray(start, end), from + start, notes.spans)}`,
      cursor: cursorAt(from + end, parts),
      more: from + bytes.length < totalBytes,
      totalBytes,
      ...(parts.length === 0 && { isMissing: true }),
    };
  } finally {
    await Promise.all(parts.map((part) => part.close()));
  }
}

interface Part {
  /** Inode and time of birth: an inode alone is soon given to the next file. */
  readonly id: string;
  readonly size: number;
  read(buffer: Buffer, position: number): Promise<number>;
  close(): Promise<void>;
}

/** Bytes before the cursor's place, counted over all parts. */
function positionOf(cursor: string, parts: readonly Part[]): number {
  if (cursor === '0') return 0;
  const match = /^(\d{1,20}(?:-\d{1,15})?):(\d{1,15})$/.exec(cursor);
  if (match === null) throw invalidCursor();
  let before = 0;
  for (const part of parts) {
    if (part.id === match[1]) return before + Math.min(Number(match[2]), part.size);
    before += part.size;
  }
  return 0;
}

function cursorAt(position: number, parts: readonly Part[]): string {
  let before = 0;
  for (const [index, part] of parts.entries()) {
    if (position < before + part.size || index === parts.length - 1) return `${part.id}:${position - before}`;
    before += part.size;
  }
  return '0:0';
}

/** The parts of one moment, the older first; the caller closes them: a log that rotates between two opens is opened again. Throws NOT_READABLE. */
async function openParts(path: string): Promise<Part[]> {
  for (let tries = 1; ; tries++) {
    const newer = await openPart(path);
    const older = await openPart(`${path}.1`);
    const now = await openPart(path);
    await now?.close();
    if (now?.id === newer?.id) return [older, newer].filter((part) => part !== undefined);
    await newer?.close();
    if (tries === MAX_OPENS) return older === undefined ? [] : [older];
    await older?.close();
  }
}

async function openPart(path: string): Promise<Part | undefined> {
  let file;
  try {
    // The log is in the project, where any program may replace it by a link or a FIFO.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined) throw error;
    if (NO_FILE.includes(code)) return undefined;
    throw new BridgeError(
      'NOT_READABLE',
      `The log ${oneLine(path, SHOWN_CHARS)} cannot be opened (${code}).`,
      'Look at the permissions of the file and of its folders.',
      { cause: error },
    );
  }
  const handle = file;
  const info = await handle.stat();
  if (!info.isFile()) {
    await handle.close();
    return undefined;
  }
  return {
    id: `${info.ino}-${Math.trunc(info.birthtimeMs)}`,
    size: info.size,
    read: async (buffer, position) => (await handle.read(buffer, 0, buffer.length, position)).bytesRead,
    close: () => handle.close(),
  };
}

async function readAcross(parts: readonly Part[], from: number, bytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let skip = from;
  let left = bytes;
  for (const part of parts) {
    if (skip >= part.size) {
      skip -= part.size;
      continue;
    }
    const piece = Buffer.alloc(Math.min(left, part.size - skip));
    const read = piece.length === 0 ? 0 : await part.read(piece, skip);
    pieces.push(piece.subarray(0, read));
    left -= read;
    skip = 0;
  }
  return Buffer.concat(pieces);
}

/** Places of a text that are not shown. */
type Spans = readonly { readonly from: number; readonly to: number }[];

/**
 * Each part begins with how much was gone when it began. Of two parts that are read as one text, the newer one's number is true,
 * and stands at the top in place of both.
 */
async function joinedNotes(parts: readonly Part[]): Promise<{ readonly top: string; readonly spans: Spans }> {
  const [older, newer] = parts;
  const none = { top: '', spans: [] };
  if (older === undefined || newer === undefined) return none;
  const [before, top] = await Promise.all([noteOf(older), noteOf(newer)]);
  if (top === '') return none;
  return {
    top,
    spans: [
      { from: 0, to: before.length },
      { from: older.size, to: older.size + top.length },
    ],
  };
}

async function noteOf(part: Part): Promise<string> {
  const head = Buffer.alloc(Math.min(GONE_NOTE_BYTES, part.size));
  return readGoneNote(head.toString('utf8', 0, await part.read(head, 0))).line;
}

/** `place`, or the end of the span that it is in: no page is empty while there is more. */
function afterSpan(place: number, spans: Spans): number {
  return spans.find(({ from, to }) => place >= from && place < to)?.to ?? place;
}

/** The text of bytes that begin at `at`, without what stands in `spans`. */
function withoutSpans(bytes: Buffer, at: number, spans: Spans): string {
  let text = '';
  let next = 0;
  for (const { from, to } of spans) {
    text += bytes.toString('utf8', next, Math.max(next, Math.min(from - at, bytes.length)));
    next = Math.max(next, Math.min(to - at, bytes.length));
  }
  return text + bytes.toString('utf8', next);
}

/** The beginning of the first line that begins after byte 0; of the first character in a page within one line. */
function firstLine(bytes: Buffer): number {
  const start = bytes.indexOf('\n') + 1;
  return start > 0 && start < bytes.length ? start : 1 + firstWhole(bytes.subarray(1));
}

/** The first byte at or after 0 that begins a character. */
function firstWhole(bytes: Buffer): number {
  let start = 0;
  while (start < Math.min(4, bytes.length) && isContinuation(bytes[start])) start++;
  return start;
}

/** The end before a character that is cut off by the end of the page, or that is still being written. */
function lastWhole(bytes: Buffer): number {
  let lead = bytes.length - 1;
  while (lead > bytes.length - 4 && lead > 0 && isContinuation(bytes[lead])) lead--;
  const first = bytes[lead] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return lead + length > bytes.length ? Math.max(lead, 0) : bytes.length;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
