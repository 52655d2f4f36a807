// Pure: the matches in one text.
import type { FindIn, Finder } from './search-query.js';
import type { WalkPause } from './walk-pause.js';

/** More of a line says nothing more of the match. */
const SHOWN_LINE_CHARS = 300;
/** Of it, before the match. */
const LEAD_CHARS = 100;
/** So much of a piece is searched again with the next one: a match of that length is found where they meet. */
const OVERLAP_PARTS = 16;
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

export interface TextSearch extends Finder {
  readonly text: string;
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
  const { find, pieceChars, context, afterLine, fixed, pause, take } = search;
  const text = search.text.startsWith(BYTE_ORDER_MARK) ? search.text.slice(1) : search.text;
  const found =
    fixed === undefined ? linesFound(text, { find, pieceChars }, afterLine) : linesHolding(text, fixed);
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

/** Every line; after `afterLine` with where the query is found in it. A long line is yielded after each of its pieces. */
function* linesFound(text: string, finder: Finder, afterLine: number): Generator<FoundLine> {
  let line = 1;
  for (let start = 0; start < text.length; line++) {
    const end = lineEnd(text, start);
    let column = -1;
    for (const piece of line <= afterLine ? [] : pieces(lineAt(text, start, end), finder.pieceChars)) {
      column = foundIn(piece, finder.find);
      if (column >= 0 || piece.isLast) break;
      yield { line, start, column };
    }
    yield { line, start, column };
    start = end + 1;
  }
}

interface Piece {
  readonly text: string;
  /** Where it begins in its line. */
  readonly at: number;
  readonly isLast: boolean;
}

function* pieces(line: string, pieceChars: number): Generator<Piece> {
  const step = pieceChars - Math.floor(pieceChars / OVERLAP_PARTS);
  for (let at = 0, isLast = false; !isLast; at += step) {
    isLast = at + pieceChars >= line.length;
    yield { text: line.length <= pieceChars ? line : line.slice(at, at + pieceChars), at, isLast };
  }
}

/** Counted from the beginning of the line; -1 for nothing. */
function foundIn({ text, at }: Piece, find: FindIn): number {
  const column = find(text);
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
