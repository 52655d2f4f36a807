// Pure: finds the matches in one text.
import type { WalkPause } from '../ignore/walk-pause.js';
import type { FindIn, Finder } from './search-query.js';

/** Enough of a line to understand the match. */
const SHOWN_LINE_CHARS = 300;
/** The part of it before the match. */
const LEAD_CHARS = 100;
/** 1/16 of each piece is searched again with the next one, to find matches of up to that length at the border. */
const OVERLAP_PARTS = 16;

export interface TextMatch {
  /** From 1. */
  readonly line: number;
  /** Column of the first match in the line, from 1, in UTF-16 units. */
  readonly column: number;
  readonly text: string;
  readonly before?: string[];
  readonly after?: string[];
}

export interface TextSearch extends Finder {
  readonly text: string;
  /** Lines shown before and after a match. */
  readonly context: number;
  /** Only lines after this one are searched. */
  readonly afterLine: number;
  /** The literal text of each match, to skip lines without it quickly; undefined for a regular expression. */
  readonly fixed: string | undefined;
  readonly pause: Pick<WalkPause, 'isDue'>;
  /** Returns false when a match does not fit any more. */
  readonly take: (match: TextMatch) => boolean;
}

/** `all`: the whole text was searched. `full`: `take` returned false. `due`: let other work run, then call again. */
export type SearchEnd = 'all' | 'full' | 'due';

/** Creates the search in one text, which each call continues until it ends. */
export function textSearch(search: TextSearch): () => SearchEnd {
  const { text, context, afterLine, pause, take } = search;
  const found = linesFound(search);
  return () => {
    for (let next = found.next(); next.done !== true; next = found.next()) {
      const { line, column } = next.value;
      if (line > afterLine && column >= 0 && !take(shownMatch(text, next.value, context))) return 'full';
      if (pause.isDue()) return 'due';
    }
    return 'all';
  };
}

export interface FoundLine {
  /** From 1. */
  readonly line: number;
  /** Offset of the line in the text. */
  readonly start: number;
  /** Column of the first match, from 0; -1 without a match. */
  readonly column: number;
}

/** The lines of a text, one by one, with the column of the first match. May skip lines without a match. */
function linesFound({
  text,
  fixed,
  afterLine,
  ...finder
}: Pick<TextSearch, 'text' | 'afterLine' | 'fixed' | keyof Finder>): Generator<FoundLine> {
  return fixed === undefined ? everyLine(text, finder, afterLine) : linesContaining(text, fixed);
}

/** A match as shown in an answer. */
export function shownMatch(text: string, { line, start, column }: FoundLine, context: number): TextMatch {
  const end = lineEnd(text, start);
  const around =
    context === 0 ? {} : { before: linesBefore(text, start, context), after: linesAfter(text, end, context) };
  return { line, column: column + 1, text: shownLine(lineAt(text, start, end), column), ...around };
}

/** Finds the offsets of lines, in ascending order. */
export class LineStarts {
  readonly #text: string;
  #line = 1;
  #start = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Undefined when the text has no such line. */
  of(line: number): number | undefined {
    while (this.#line < line) {
      const feed = this.#text.indexOf('\n', this.#start);
      if (feed < 0) return undefined;
      this.#line++;
      this.#start = feed + 1;
    }
    return this.#start;
  }
}

/** Each line that contains `fixed`. */
function* linesContaining(text: string, fixed: string): Generator<FoundLine> {
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

/** Every line; those after `afterLine` are searched. A long line is yielded after each of its pieces. */
function* everyLine(text: string, finder: Finder, afterLine: number): Generator<FoundLine> {
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
  /** Offset of the piece in its line. */
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

/** Column of the match in the line; -1 without a match. */
function foundIn({ text, at }: Piece, find: FindIn): number {
  const column = find(text);
  return column < 0 ? -1 : at + column;
}

/** The last lines before `start`, at most `count`. */
function linesBefore(text: string, start: number, count: number): string[] {
  const lines: string[] = [];
  for (let end = start - 1; end >= 0 && lines.length < count;) {
    const from = end === 0 ? 0 : text.lastIndexOf('\n', end - 1) + 1;
    lines.unshift(shownLine(lineAt(text, from, end), 0));
    end = from - 1;
  }
  return lines;
}

/** The first lines after the line end at `end`, at most `count`. */
function linesAfter(text: string, end: number, count: number): string[] {
  const lines: string[] = [];
  for (let start = end + 1; start < text.length && lines.length < count;) {
    const next = lineEnd(text, start);
    lines.push(shownLine(lineAt(text, start, next), 0));
    start = next + 1;
  }
  return lines;
}

/** The end of the line that begins at `start`: a line feed or the end of the text. */
function lineEnd(text: string, start: number): number {
  const feed = text.indexOf('\n', start);
  return feed < 0 ? text.length : feed;
}

/** The line without a carriage return at its end. */
function lineAt(text: string, start: number, end: number): string {
  return text.slice(start, end > start && text.endsWith('\r', end) ? end - 1 : end);
}

/** The part of the line around `at`, with `…` at the cuts. */
export function shownLine(line: string, at: number): string {
  if (line.length <= SHOWN_LINE_CHARS) return line;
  const start = at < SHOWN_LINE_CHARS - LEAD_CHARS ? 0 : at - LEAD_CHARS;
  const end = start + SHOWN_LINE_CHARS;
  // Removes half of a surrogate pair at the cuts.
  const part = line.slice(start, end).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
  return `${start > 0 ? '…' : ''}${part}${end < line.length ? '…' : ''}`;
}
