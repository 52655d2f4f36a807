import { setImmediate } from 'node:timers/promises';
import { RE2JS, RE2JSException } from 're2js';
import type { Clock } from '../../base/clock.js';
import { BridgeError, messageOf } from '../../base/errors.js';
import { plainText } from '../../base/text.js';
import type { OutputReader } from './output-reader.js';

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

interface FoundLine {
  /** Offset of the line's first byte. */
  readonly offset: number;
  readonly text: string;
}

export interface OutputSearch {
  readonly found: readonly FoundLine[];
  /** Where a further search goes on. */
  readonly cursor: number;
  /** There is more behind the cursor that was not looked at. */
  readonly isMore: boolean;
}

/** A search gives up its turn after this; the next goes on at its cursor. */
const LIMIT_MS = 5_000;
const MAX_FOUND = 50;
const MAX_LINE_CHARS = 300;
/** Read at once; the server has its turn after each. */
const PIECE_BYTES = 64 * 1024;
/** A line longer than this is looked at in pieces. */
const MAX_LINE_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

/** The lines that hold something, from an offset on, within a time limit. */
export async function searchOutput(
  reader: OutputReader,
  holds: HoldsText,
  { from, clock, signal }: { readonly from: number; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<OutputSearch> {
  const untilMs = clock.monotonicMs() + LIMIT_MS;
  const { end } = await reader.extent();
  const found: FoundLine[] = [];
  let rest = Buffer.alloc(0);
  let cursor = from;
  const isOver = (): boolean => clock.monotonicMs() >= untilMs || signal.aborted === true;
  while (cursor + rest.length < end && !isOver()) {
    const range = await reader.read(cursor + rest.length, PIECE_BYTES);
    if (range.bytes.length === 0) break;
    // Something is missing in between: a line does not go on behind it.
    if (range.from !== cursor + rest.length) rest = Buffer.alloc(0);
    cursor = range.from - rest.length;
    const bytes = Buffer.concat([rest, range.bytes]);
    const isLast = cursor + bytes.length >= end;
    let at = 0;
    while (at < bytes.length) {
      const newline = bytes.indexOf(NEWLINE, at);
      if (newline === -1 && !isLast && bytes.length - at < MAX_LINE_BYTES) break;
      const lineEnd = newline === -1 ? bytes.length : newline;
      const text = plainText(bytes.toString('utf8', at, lineEnd));
      if (holds(text)) found.push({ offset: cursor + at, text: text.slice(0, MAX_LINE_CHARS) });
      at = lineEnd + 1;
      if (found.length >= MAX_FOUND) return { found, cursor: cursor + at, isMore: cursor + at < end };
    }
    cursor += Math.min(at, bytes.length);
    rest = bytes.subarray(Math.min(at, bytes.length));
    await setImmediate();
  }
  return { found, cursor, isMore: cursor + rest.length < end };
}
