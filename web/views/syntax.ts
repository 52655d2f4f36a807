// Pure: what the parts of a line are in the language of its file.
import highlighter from 'highlight.js/lib/common';
import type { DiffLine } from '../../src/board/parse-hunks.js';

/** Longer lines are made by programs, and stay plain. */
const MAX_CHARS = 600;
/** What highlight.js writes: spans with a class, and text with five characters as references. */
const MARKUP = /<span class="(?:hljs-)?([a-z]*)[^"]*">|<\/span>|([^<]+)/g;
const references: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
};

/** A part of a line, and what it is: the first word of a scope of highlight.js, such as `keyword` or `string`; empty for plain text. */
export interface Piece {
  readonly text: string;
  readonly scope: string;
}

/**
 * The pieces of each line of a file's changes, by the extension or else the name of the file; none in a language that is not known. Each
 * side of a hunk is read from its first line: what began before it, such as a comment, is not known.
 */
export function piecesOf(path: string, lines: readonly DiffLine[]): ReadonlyMap<DiffLine, readonly Piece[]> {
  const found = new Map<DiffLine, readonly Piece[]>();
  const language = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('.')) + 1);
  if (highlighter.getLanguage(language) === undefined) return found;
  const heads = lines.flatMap(({ kind }, at) => (kind === 'hunk' ? [at] : []));
  for (const [at, head] of [-1, ...heads].entries())
    for (const other of ['added', 'removed']) {
      const side = lines.slice(head + 1, heads[at]).filter(({ kind }) => kind !== other);
      const read = linesIn(
        side.map(({ text }) => (text.length > MAX_CHARS ? '' : text)).join('\n'),
        language,
      );
      for (const [number, line] of side.entries()) {
        const pieces = read[number];
        if (pieces !== undefined && line.text.length <= MAX_CHARS) found.set(line, pieces);
      }
    }
  return found;
}

/** The pieces of each line of a text; none where they are not all of it. */
function linesIn(text: string, language: string): readonly (readonly Piece[])[] {
  const { value } = highlighter.highlight(text, { language, ignoreIllegals: true });
  const lines: Piece[][] = [[]];
  const scopes: string[] = [];
  for (const [, scope, words] of value.matchAll(MARKUP)) {
    if (scope !== undefined) scopes.push(scope);
    else if (words === undefined) scopes.pop();
    for (const [number, part] of (words ?? '').split('\n').entries()) {
      if (number > 0) lines.push([]);
      const shown = part.replace(/&[^;]+;/g, (reference) => references[reference] ?? reference);
      if (shown !== '') lines.at(-1)?.push({ text: shown, scope: scopes.at(-1) ?? '' });
    }
  }
  const isWhole = lines.map((line) => line.map((piece) => piece.text).join('')).join('\n') === text;
  return isWhole ? lines : [];
}
