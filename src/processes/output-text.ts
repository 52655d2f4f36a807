import { setImmediate } from 'node:timers/promises';
import { RE2JS, RE2JSException } from 're2js';
import type { Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { plainText, headAndTail, tailBytes, wholeUtf8End } from '../base/text.js';
import { tornStart, type OutputReader } from '../store/pages.js';

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
/** Of more than this only the ends are read, and what is left out is counted in bytes. */
const MAX_SHOWN_BYTES = 512 * 1024;
/** Room for the line that says how much is left out. */
const NOTE_CHARS = 64;
/** A search gives up its turn after this; the next goes on at its cursor. */
const SEARCH_LIMIT_MS = 5_000;
const MAX_FOUND = 50;
const MAX_LINE_CHARS = 300;
/** Read at once; the server has its turn after each. A longer line is searched in pieces. */
const PIECE_BYTES = 256 * 1024;

/**
 * The text from a byte on. A character whose rest has not been printed yet is left for the next read, unless the process
 * `hasEnded`; so is one that would not fit.
 */
export async function textFrom(
  reader: OutputReader,
  cursor: number,
  maxBytes: number,
  hasEnded: boolean,
): Promise<OutputText> {
  const { from, bytes } = await reader.read(cursor, maxBytes);
  const head = from > 0 ? tornStart(bytes) : 0;
  const whole = hasEnded && bytes.length < maxBytes ? bytes.length : wholeUtf8End(bytes);
  // No character is that long: what looks like one is no text, and must not be read again for ever.
  const end = whole > head ? whole : bytes.length;
  return { text: plainText(bytes.toString('utf8', head, end)), from: from + head, cursor: from + end };
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
  const { from, bytes } = await reader.read(Math.max(start, end - wanted), wanted);
  const first = lineStart(bytes, lines);
  // One more than there is: its end is not that of what was asked for.
  const page = await textFrom(reader, from + first, bytes.length - first + 1, hasEnded);
  const text = tailBytes(page.text, maxBytes);
  if (text === page.text) return page;
  // Where the escape sequences are is not known here: the offset is that of the text as it would be without any.
  return { ...page, text, from: Math.max(page.from, page.cursor - Buffer.byteLength(text)) };
}

/** What was printed from `from` on, its head and tail, within `maxChars`. */
export async function shownText(reader: OutputReader, from: number, maxChars: number): Promise<string> {
  const { start, end } = await reader.extent();
  const begin = Math.max(from, start);
  if (end - begin <= MAX_SHOWN_BYTES) {
    const { text } = await textFrom(reader, begin, end - begin, false);
    return text.length <= maxChars ? text : headAndTail(text, maxChars - NOTE_CHARS);
  }
  const half = Math.floor((maxChars - NOTE_CHARS) / 2);
  const head = await textFrom(reader, begin, half, false);
  const tail = await textFrom(reader, end - half, half, false);
  return `${head.text}\n… ${tail.from - head.cursor} bytes left out …\n${tail.text}`;
}

/** Where the last `lines` lines begin; a newline at the very end ends the last of them. */
function lineStart(bytes: Buffer, lines: number): number {
  let at = bytes.at(-1) === NEWLINE ? bytes.length - 1 : bytes.length;
  for (let count = 0; count < lines && at !== -1; count++)
    at = at === 0 ? -1 : bytes.lastIndexOf(NEWLINE, at - 1);
  return at + 1;
}

/** Whether a text holds what is looked for. */
export type HoldsText = (text: string) => boolean;

/**
 * A fixed text is found by its characters, a regular expression by RE2: its time grows with the text only. Throws
 * INVALID_ARGUMENTS for an expression that RE2 does not take.
 */
export function textFinder(wanted: string, isRegex: boolean): HoldsText {
  if (!isRegex) return (text) => text.includes(wanted);
  try {
    const compiled = RE2JS.compile(wanted, RE2JS.MULTILINE);
    return (text) => compiled.matcher(text).find();
  } catch (thrown) {
    if (!(thrown instanceof RE2JSException)) throw thrown;
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `${JSON.stringify(wanted)} is no regular expression in RE2 syntax: ${messageOf(thrown)}.`,
      'Correct it, or leave out regex to look for the text as it is.',
    );
  }
}

export interface OutputSearch {
  /** Lines, each with the offset of its first byte. */
  readonly found: readonly { readonly offset: number; readonly text: string }[];
  /** Where a further search goes on. */
  readonly cursor: number;
  /** There is more behind the cursor that was not searched. */
  readonly isMore: boolean;
}

/** The lines that hold something, from an offset on, within a time limit. */
export async function searchOutput(
  reader: OutputReader,
  holds: HoldsText,
  { from, clock, signal }: { readonly from: number; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<OutputSearch> {
  const untilMs = clock.monotonicMs() + SEARCH_LIMIT_MS;
  const { end } = await reader.extent();
  const found: { offset: number; text: string }[] = [];
  let cursor = from;
  while (cursor < end && clock.monotonicMs() < untilMs && !signal.aborted) {
    const piece = await reader.read(cursor, PIECE_BYTES);
    if (piece.bytes.length === 0) break;
    const isLast = piece.from + piece.bytes.length >= end;
    const lastLine = piece.bytes.lastIndexOf(NEWLINE) + 1;
    const length = isLast || lastLine === 0 ? piece.bytes.length : lastLine;
    for (let at = 0; at < length;) {
      const newline = piece.bytes.indexOf(NEWLINE, at);
      const lineEnd = newline === -1 ? length : newline;
      const text = plainText(piece.bytes.toString('utf8', at, lineEnd));
      if (holds(text)) found.push({ offset: piece.from + at, text: text.slice(0, MAX_LINE_CHARS) });
      at = lineEnd + 1;
      cursor = Math.min(piece.from + at, piece.from + length);
      if (found.length >= MAX_FOUND) return { found, cursor, isMore: cursor < end };
    }
    await setImmediate();
  }
  return { found, cursor, isMore: cursor < end };
}
