// Pure.
import type { OutputReader } from './output-reader.js';
import { plainText } from '../../base/text/plain-text.js';
import { incompleteTail, tornStart } from './whole-characters.js';

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
