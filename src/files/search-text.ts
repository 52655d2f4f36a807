// Pure: the matches in one text.
import type { FindIn } from './search-query.js';
import type { WalkPause } from './walk-pause.js';

/** More of a line says nothing more of the match. */
const SHOWN_LINE_CHARS = 300;
/** Of it, before the match. */
const LEAD_CHARS = 100;
/** An expression is matched against so much of a line at once: a longer match would keep others waiting for seconds. */
const PIECE_CHARS = 64 * 1024;
/** A match of at most this length is found where two pieces meet. */
const OVERLAP_CHARS = 4 * 1024;
const BYTE_ORDER_MARK = '\ufeff';

export interface TextMatch {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units, of the first match in the line. */
  readonly column: number;
  readonly text: string;
  readonly before?: string[];
  readonly after?: string[];
}

export interface TextSearch {
  readonly text: string;
  readonly find: FindIn;
  /** Lines shown before and after a match. */
  readonly context: number;
  /** Only lines after this one. */
  readonly afterLine: number;
  /** A text that each match holds: where it is not, no line is cut out. */
  readonly fixed: string | undefined;
  readonly pause: Pick<WalkPause, 'isDue'>;
  /** False when a match does not fit any more. */
  readonly take: (match: TextMatch) => boolean;
}

/** `all`: the text is through. `full`: `take` has enough. `due`: others have waited long enough; call it again. */
export type SearchEnd = 'all' | 'full' | 'due';

/** The search in one text, which goes on with each call until it ends. */
export function textSearch(search: TextSearch): () => SearchEnd {
  const { find, context, afterLine, fixed, pause, take } = search;
  const text = search.text.startsWith(BYTE_ORDER_MARK) ? search.text.slice(1) : search.text;
  const found = fixed === undefined ? linesFound(text, find, afterLine) : linesHolding(text, fixed);
  return () => {
    for (let next = found.next(); next.done !== true; next = found.next()) {
      const { line, start, column } = next.value;
      if (line > afterLine && column >= 0) {
        const end = lineEnd(text, start);
        const around =
          context === 0
            ? {}
            : { before: linesBefore(text, start, context), after: linesAfter(text, end, context) };
        if (!take({ line, column: column + 1, text: cutLine(lineAt(text, start, end), column), ...around }))
          return 'full';
      }
      if (pause.isDue()) return 'due';
    }
    return 'all';
  };
}

interface FoundLine {
  /** From 1. */
  readonly line: number;
  /** Where it begins in the text. */
  readonly start: number;
  /** Of the first match in it, from 0; -1 without a match. */
  readonly column: number;
}

/** Each line that holds `fixed`: no other one is cut out. */
function* linesHolding(text: string, fixed: string): Generator<FoundLine> {
  let line = 1;
  let start = 0;
  for (let at = text.indexOf(fixed); at >= 0; at = text.indexOf(fixed, start)) {
    for (let feed = text.indexOf('\n', start); feed >= 0 && feed < at; feed = text.indexOf('\n', start)) {
      line++;
      start = feed + 1;
    }
    yield { line, start, column: at - start };
    const end = lineEnd(text, start);
    if (end === text.length) return;
    line++;
    start = end + 1;
  }
}

/** Every line; after `afterLine` with where `find` finds something in it. A long line is yielded after each of its pieces. */
function* linesFound(text: string, find: FindIn, afterLine: number): Generator<FoundLine> {
  let line = 1;
  for (let start = 0; start < text.length; line++) {
    const end = lineEnd(text, start);
    const whole = line <= afterLine ? '' : lineAt(text, start, end);
    let column = -1;
    for (let at = 0; column < 0 && at < whole.length - PIECE_CHARS; at += PIECE_CHARS - OVERLAP_CHARS) {
      column = foundFrom(find, whole, at);
      if (column < 0) yield { line, start, column };
    }
    if (column < 0 && line > afterLine) column = foundFrom(find, whole, lastPiece(whole));
    yield { line, start, column };
    start = end + 1;
  }
}

/** Where the last piece of a line begins. */
function lastPiece(whole: string): number {
  if (whole.length <= PIECE_CHARS) return 0;
  const step = PIECE_CHARS - OVERLAP_CHARS;
  return Math.ceil((whole.length - PIECE_CHARS) / step) * step;
}

/** What `find` finds in the piece of `whole` at `at`, counted from the line's beginning; -1 for nothing. */
function foundFrom(find: FindIn, whole: string, at: number): number {
  const column = find(at === 0 && whole.length <= PIECE_CHARS ? whole : whole.slice(at, at + PIECE_CHARS));
  return column < 0 ? -1 : at + column;
}

/** The last ones, at most `count`, that end before `start`. */
function linesBefore(text: string, start: number, count: number): string[] {
  const lines: string[] = [];
  for (let end = start - 1; end >= 0 && lines.length < count;) {
    const from = end === 0 ? 0 : text.lastIndexOf('\n', end - 1) + 1;
    lines.unshift(cutLine(lineAt(text, from, end), 0));
    end = from - 1;
  }
  return lines;
}

/** The first ones, at most `count`, that begin after the line end at `end`. */
function linesAfter(text: string, end: number, count: number): string[] {
  const lines: string[] = [];
  for (let start = end + 1; start < text.length && lines.length < count;) {
    const next = lineEnd(text, start);
    lines.push(cutLine(lineAt(text, start, next), 0));
    start = next + 1;
  }
  return lines;
}

/** Where the line that begins at `start` ends: at a line feed, or with the text. */
function lineEnd(text: string, start: number): number {
  const feed = text.indexOf('\n', start);
  return feed < 0 ? text.length : feed;
}

/** Without its line end. */
function lineAt(text: string, start: number, end: number): string {
  return text.slice(start, end > start && text.endsWith('\r', end) ? end - 1 : end);
}

/** The part of the line around `at`, with `…` where it is cut. */
function cutLine(line: string, at: number): string {
  if (line.length <= SHOWN_LINE_CHARS) return line;
  const start = at < SHOWN_LINE_CHARS - LEAD_CHARS ? 0 : at - LEAD_CHARS;
  const end = start + SHOWN_LINE_CHARS;
  // No half of a character at the cuts.
  const part = line.slice(start, end).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
  return `${start > 0 ? '…' : ''}${part}${end < line.length ? '…' : ''}`;
}
