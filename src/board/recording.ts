import { BridgeError } from '../base/errors.js';
import { readAt, withPair, type OpenFile } from '../store/pages.js';
import type { RecordingPiece } from './protocol.js';

const NEWLINE = 0x0a;
const CHUNK_BYTES = 512 * 1024;
/** An event has at most some 400 KB, and a screen that begins a part a few MB. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
const nothing: RecordingPiece = { file: '', from: 0, follows: false, text: '', to: 0 };

/**
 * The lines of a recording after a place: `from` bytes of `file`. Without a file, or where that is gone, those of the oldest part that is
 * there. Empty where nothing more is written. Throws STATE_UNUSABLE for a line that is too long, and errors of the system.
 */
export async function readRecording(
  path: string,
  { file, from }: { readonly file?: string | undefined; readonly from: number },
): Promise<RecordingPiece> {
  return withPair(path, async (parts) => {
    const at = parts.findIndex(({ id }) => id === file);
    const [part, next] = parts.slice(Math.max(0, at));
    if (part === undefined) return nothing;
    const here = await pieceOf(part, at === -1 ? 0 : from, false);
    return at === -1 || here.to > here.from || next === undefined ? here : pieceOf(next, 0, true);
  });
}

async function pieceOf({ id, file }: OpenFile, from: number, follows: boolean): Promise<RecordingPiece> {
  for (let size = CHUNK_BYTES; size <= MAX_LINE_BYTES; size *= 2) {
    const bytes = await readAt(file, from, size);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    if (end === 0 && bytes.length === size) continue;
    const text = shownLines(bytes.toString('utf8', 0, end), from === 0);
    return { file: id, from, follows, text, to: from + end };
  }
  throw new BridgeError(
    'STATE_UNUSABLE',
    `The recording cannot be read: a line has more than ${MAX_LINE_BYTES / 1024 / 1024} MB.`,
    'The log and the timeline of the task say what happened.',
  );
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
