// Pure: the part of a terminal's output that an answer holds, as a person reads it or as it was printed.
import { plainText } from '../base/text/plain-text.js';
import { headBytes, tailBytes } from '../base/text/text.js';

/** A part of what a terminal printed; positions count characters from its beginning. */
export interface OutputPage {
  readonly text: string;
  readonly from: number;
  /** Where the next read goes on. */
  readonly cursor: number;
}

export interface PageQuery {
  readonly maxBytes: number;
  /** With escape sequences. */
  readonly raw: boolean;
}

type Printed = Pick<OutputPage, 'text' | 'from'>;

/** An escape sequence whose end has not been printed yet, or is not in the text. */
const UNFINISHED = /\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u0018\u001a\u001b]{0,4096}\u001b?|[ -/]*)$/;

/** The beginning of the text. A sequence that is not whole is left for the next read where `isMoreToCome`. */
export function headPage(
  { text, from }: Printed,
  { maxBytes, raw }: PageQuery,
  isMoreToCome: boolean,
): OutputPage {
  const head = headBytes(text, maxBytes);
  const isCut = head.length < text.length;
  const whole = isCut || isMoreToCome ? head.replace(UNFINISHED, '') : head;
  // What looks like one but fills all of the page is none, and must not be read again for ever.
  const printed = whole === '' ? head : whole;
  return { text: shown(printed, raw), from, cursor: from + printed.length };
}

/** The end of the text; where its front is cut, from the beginning of a line on, if there is one. */
export function tailPage({ text, from }: Printed, { maxBytes, raw }: PageQuery, isCut: boolean): OutputPage {
  const tail = tailBytes(text, maxBytes);
  const lineStart = isCut || tail.length < text.length ? tail.indexOf('\n') + 1 : 0;
  const lines = lineStart < tail.length ? tail.slice(lineStart) : tail;
  const cursor = from + text.length;
  return { text: shown(lines, raw), from: cursor - lines.length, cursor };
}

function shown(text: string, raw: boolean): string {
  return raw ? text : plainText(text);
}
