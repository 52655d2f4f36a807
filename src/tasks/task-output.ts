import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { invalidCursor } from '../base/input.js';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { oneLine, wholeUtf8End } from '../base/text.js';
import { GONE_NOTE_BYTES, readGoneNote } from '../store/gone-note.js';

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

/** A file of a log, without the note at its beginning. */
interface Part {
  /** Inode and time of birth: an inode alone is soon given to the next file. */
  readonly id: string;
  readonly file: FileHandle;
  /** How much was gone when it began. */
  readonly note: string;
  readonly size: number;
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
): Promise<TextPage> {
  const newer = await openPart(path);
  const older = await openPart(`${path}.1`);
  // The same file where the log rotated in between: the next page goes on from there.
  const parts = [older, newer?.id === older?.id ? undefined : newer].filter((part) => part !== undefined);
  try {
    const totalBytes = parts.reduce((sum, { size }) => sum + size, 0);
    const note = parts.at(-1)?.note ?? '';
    const asked = cursor === undefined ? Math.max(0, totalBytes - maxBytes) : positionOf(cursor, parts);
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
  } finally {
    await Promise.all([older?.file.close(), newer?.file.close()]);
  }
}

/** Bytes before the cursor's place, counted over all parts without their notes; undefined for the beginning, before the note. */
function positionOf(cursor: string, parts: readonly Part[]): number | undefined {
  if (cursor === '0') return undefined;
  const match = /^(\d{1,20}(?:-\d{1,15})?):(\d{1,15})$/.exec(cursor);
  if (match === null) throw invalidCursor();
  let before = 0;
  for (const { id, note, size } of parts) {
    const place = Number(match[2]) - note.length;
    if (id === match[1]) return before + Math.max(0, Math.min(place, size));
    before += size;
  }
  return undefined;
}

function cursorAt(position: number, parts: readonly Part[]): string {
  let before = 0;
  for (const { id, note, size } of parts) {
    if (position < before + size || id === parts.at(-1)?.id)
      return `${id}:${note.length + position - before}`;
    before += size;
  }
  return '0:0';
}

async function openPart(path: string): Promise<Part | undefined> {
  let file: FileHandle;
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
  const info = await file.stat();
  if (!info.isFile()) {
    await file.close();
    return undefined;
  }
  const head = Buffer.alloc(GONE_NOTE_BYTES);
  const { bytesRead } = await file.read(head, 0, GONE_NOTE_BYTES, 0);
  const note = readGoneNote(head.toString('utf8', 0, bytesRead)).line;
  const size = Math.max(0, info.size - note.length);
  return { id: `${info.ino}-${Math.trunc(info.birthtimeMs)}`, file, note, size };
}

async function readAcross(parts: readonly Part[], from: number, maxBytes: number): Promise<Buffer> {
  const bytes = Buffer.alloc(maxBytes);
  let length = 0;
  let before = 0;
  for (const { file, note, size } of parts) {
    const at = Math.max(0, from - before);
    const wanted = Math.max(0, Math.min(maxBytes - length, size - at));
    length += (await file.read(bytes, length, wanted, note.length + at)).bytesRead;
    before += size;
  }
  return bytes.subarray(0, length);
}

/** The beginning of the first line that begins after byte 0; of the first character in a page within one line. */
function firstLine(bytes: Buffer): number {
  const start = bytes.indexOf('\n') + 1;
  if (start > 0 && start < bytes.length) return start;
  const lead = bytes.subarray(1, 4).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return 1 + Math.max(0, lead);
}
