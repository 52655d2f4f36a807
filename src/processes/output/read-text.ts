// Pure: pieces of a stream cut between characters.
import { plainText, tailChars } from '../../base/text.js';
import type { OutputReader } from './output-reader.js';

/** The longest character of UTF-8. */
const MAX_CHARACTER_BYTES = 4;

/** How many bytes at the beginning belong to a character that began before: none unless the piece was cut there. */
export function tornStart(bytes: Uint8Array): number {
  let count = 0;
  while (count < MAX_CHARACTER_BYTES && isContinuation(bytes[count])) count++;
  // More than a character can have: it is no UTF-8, and nothing was torn.
  return count === MAX_CHARACTER_BYTES ? 0 : count;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** How many bytes at the end of `bytes` begin a UTF-8 character that is not complete. */
export function incompleteTail(bytes: Uint8Array): number {
  for (let back = 1; back < MAX_CHARACTER_BYTES && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
}

/** A part of a stream as text. */
export interface OutputText {
  readonly text: string;
  /** Offsets in the stream: of the first byte, and behind the last one, where the next read goes on. */
  readonly from: number;
  readonly cursor: number;
}

/** Escape sequences are not shown: of a stream that is full of them so much more is read than is asked for. */
const RAW_FACTOR = 4;
const MAX_RAW_BYTES = 2 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * The text from a byte on. A character whose rest has not been printed yet is left for the next read, unless the process
 * `hasEnded`; so is a line that would not fit.
 */
export async function textFrom(
  reader: OutputReader,
  cursor: number,
  maxBytes: number,
  hasEnded: boolean,
): Promise<OutputText> {
  const { from, bytes } = await reader.read(cursor, maxBytes);
  const head = from > 0 ? tornStart(bytes) : 0;
  const isCut = bytes.length === maxBytes;
  const tail = hasEnded && !isCut ? 0 : incompleteTail(bytes);
  // No character is that long: what looks like one is no text, and must not be read again for ever.
  const end = head + tail < bytes.length ? bytes.length - tail : bytes.length;
  return {
    text: plainText(bytes.toString('utf8', head, end)),
    from: from + head,
    cursor: from + end,
  };
}

/** The last lines, at most `maxBytes` of text; the first one is cut off at its front when it alone is longer. */
export async function lastLines(
  reader: OutputReader,
  lines: number,
  maxBytes: number,
  hasEnded: boolean,
): Promise<OutputText> {
  const { start, end } = await reader.extent();
  const wanted = Math.min(maxBytes * RAW_FACTOR, MAX_RAW_BYTES);
  const range = await reader.read(Math.max(start, end - wanted), wanted);
  const first = lineStart(range.bytes, lines);
  const head = first === 0 && range.from > 0 ? tornStart(range.bytes) : first;
  const tail = hasEnded ? 0 : incompleteTail(range.bytes);
  const shown = range.bytes.subarray(head, range.bytes.length - tail);
  const whole = plainText(shown.toString('utf8'));
  const cursor = range.from + range.bytes.length - tail;
  const kept = Buffer.from(whole);
  if (kept.length <= maxBytes) return { text: whole, from: range.from + head, cursor };
  const cut = kept.subarray(kept.length - maxBytes);
  // Where the escape sequences are is not known here: the offset is that of the text as it would be without any.
  const text = cut.toString('utf8', tornStart(cut));
  return { text, from: Math.max(range.from + head, cursor - Buffer.byteLength(text)), cursor };
}

/** Where the last `lines` lines begin; a newline at the very end ends the last of them. */
function lineStart(bytes: Buffer, lines: number): number {
  let at = bytes.length > 0 && bytes.at(-1) === NEWLINE ? bytes.length - 1 : bytes.length;
  for (let count = 0; count < lines; count++) {
    if (at <= 0) return 0;
    const before = bytes.lastIndexOf(NEWLINE, at - 1);
    if (before === -1) return 0;
    if (count === lines - 1) return before + 1;
    at = before;
  }
  return bytes.length;
}

/** Up to so many bytes for each shown character all is read, and what is left out is counted in characters. */
const COUNTED_FACTOR = 64;

/**
 * What was printed from `from` on, its head and tail, within `maxChars`. What is left out between the two is counted: in
 * characters, of a flood in bytes.
 */
export async function headAndTail(reader: OutputReader, from: number, maxChars: number): Promise<string> {
  const { start, end } = await reader.extent();
  const begin = Math.max(from, start);
  const room = maxChars - MAX_NOTE_CHARS;
  if (end - begin <= maxChars * COUNTED_FACTOR) {
    const { bytes } = await reader.read(begin, end - begin);
    const text = plainText(decoded(bytes, begin > 0));
    if (text.length <= maxChars) return text;
    const head = headChars(text, Math.ceil(room / 2));
    const tail = tailChars(text, Math.floor(room / 2));
    return `${head}${note(text.length - head.length - tail.length, 'characters')}${tail}`;
  }
  const half = Math.floor(room / 2);
  const [first, last] = await Promise.all([reader.read(begin, half), reader.read(end - half, half)]);
  const head = plainText(decoded(first.bytes, begin > 0));
  const tail = plainText(decoded(last.bytes, true));
  return `${head}${note(end - begin - first.bytes.length - last.bytes.length, 'bytes')}${tail}`;
}

const MAX_NOTE_CHARS = 64;

function note(count: number, unit: 'characters' | 'bytes'): string {
  return `\n… ${count} ${unit} left out …\n`;
}

function decoded(bytes: Buffer, isCutBefore: boolean): string {
  return bytes.toString('utf8', isCutBefore ? tornStart(bytes) : 0, bytes.length - incompleteTail(bytes));
}

/** The first units of a text, never ending inside a surrogate pair. */
function headChars(text: string, maxChars: number): string {
  const last = text.charCodeAt(maxChars - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? maxChars - 1 : maxChars);
}
