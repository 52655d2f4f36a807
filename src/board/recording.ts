import type { FileHandle } from 'node:fs/promises';
import { BridgeError } from '../base/errors.js';
import { openRegularFile } from '../base/files/regular-file.js';
import type { RecordingPiece } from './protocol.js';

const NEWLINE = 0x0a;
const CHUNK_BYTES = 512 * 1024;
/** An event has at most some 400 KB, and a screen that begins a part a few MB. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** One file of a recording. */
interface Part {
  /** Names move on when the writer begins a new part. */
  readonly id: string;
  readonly file: FileHandle;
}

/**
 * The lines of a recording after a place: `from` bytes of `file`. Without a file, or where that is gone, those of the oldest part that is
 * there. Empty where nothing more is written. Throws STATE_UNUSABLE for a file that cannot be read.
 */
export async function readRecording(
  path: string,
  { file, from }: { readonly file?: string | undefined; readonly from: number },
): Promise<RecordingPiece> {
  const parts = await openParts(path);
  try {
    const at = parts.findIndex(({ id }) => id === file);
    const [part, next] = parts.slice(Math.max(0, at));
    if (part === undefined) return { file: '', from: 0, follows: false, text: '', to: 0 };
    const here = await pieceOf(part, at === -1 ? 0 : from, false);
    return at === -1 || here.to > here.from || next === undefined ? here : await pieceOf(next, 0, true);
  } finally {
    for (const part of parts) await part.file.close();
  }
}

/** The parts that are there: at most two, the older one first. */
async function openParts(path: string): Promise<readonly Part[]> {
  // The newer one first: if the writer rotates in between, the same file is found again under the older name.
  const newer = await openPart(path);
  const older = await openPart(`${path}.1`);
  if (newer?.id !== older?.id) return [older, newer].filter((part) => part !== undefined);
  await older?.file.close();
  return newer === undefined ? [] : [newer];
}

async function openPart(path: string): Promise<Part | undefined> {
  const opened = await openRegularFile(path);
  if (opened.state === 'missing') return undefined;
  if (opened.state === 'refused') throw unreadable(`${path}: ${opened.why}`);
  const { dev, ino, birthtimeNs } = await opened.file.stat({ bigint: true });
  return { id: `${dev}:${ino}:${birthtimeNs}`, file: opened.file };
}

async function pieceOf({ id, file }: Part, from: number, follows: boolean): Promise<RecordingPiece> {
  for (let size = CHUNK_BYTES; size <= MAX_LINE_BYTES; size *= 2) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(size), 0, size, from);
    const end = buffer.subarray(0, bytesRead).lastIndexOf(NEWLINE) + 1;
    if (end > 0 || bytesRead < size)
      return {
        file: id,
        from,
        follows,
        text: shownLines(buffer.toString('utf8', 0, end), from === 0),
        to: from + end,
      };
  }
  throw unreadable(`a line has more than ${MAX_LINE_BYTES / 1024 / 1024} MB`);
}

/** Without what was typed, which may hold secrets. */
function shownLines(text: string, hasHead: boolean): string {
  return text
    .split('\n')
    .filter((line, at) => (at === 0 && hasHead) || line === '' || !isTyped(line))
    .join('\n');
}

/** Also true of a line that cannot be read. */
function isTyped(line: string): boolean {
  try {
    const event: unknown = JSON.parse(line);
    return Array.isArray(event) && event[1] === 'i';
  } catch {
    return true;
  }
}

function unreadable(why: string): BridgeError {
  return new BridgeError(
    'STATE_UNUSABLE',
    `The recording cannot be read: ${why}.`,
    'The log and the timeline of the task say what happened.',
  );
}
