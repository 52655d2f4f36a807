// Pure.
import { tailChars } from '../../base/text/text.js';
import type { OutputReader } from './output-reader.js';
import { plainText } from '../../base/text/plain-text.js';
import { incompleteTail, tornStart } from './whole-characters.js';

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
