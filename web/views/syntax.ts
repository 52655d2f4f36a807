// Pure: what the parts of a line are in the language of its file.
import highlighter from 'highlight.js/lib/common';
import type { Emitter } from 'highlight.js';
import type { DiffLine } from '../../src/board/parse-hunks.js';

/** Longer lines are made by programs, and stay plain. */
const MAX_CHARS = 600;

/** A part of a line, and what it is: the first word of a scope of highlight.js, such as `keyword` or `string`; empty for plain text. */
export interface Piece {
  readonly text: string;
  readonly scope: string;
}

/** Takes what highlight.js finds as pieces instead of as HTML. */
class Pieces implements Emitter {
  readonly all: Piece[] = [];
  readonly #scopes: string[] = [];

  startScope(name: string): void {
    this.#scopes.push(name.replace(/\W.*/, ''));
  }

  endScope(): void {
    this.#scopes.pop();
  }

  /** Of what begins and ends at two places; its name of before version 11. */
  openNode(name: string): void {
    this.startScope(name);
  }

  closeNode(): void {
    this.endScope();
  }

  addText(text: string): void {
    this.all.push({ text, scope: this.#scopes.at(-1) ?? '' });
  }

  __addSublanguage(inner: Emitter): void {
    if (inner instanceof Pieces) this.all.push(...inner.all);
  }

  finalize(): void {
    // Nothing is open at the end.
  }

  toHTML(): string {
    return '';
  }
}

highlighter.configure({ __emitter: Pieces });

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
      for (const [number, line] of side.entries())
        if (line.text.length <= MAX_CHARS) found.set(line, read[number] ?? [{ text: line.text, scope: '' }]);
    }
  return found;
}

/** The pieces of each line of a text; none where it could not be read to its end. */
function linesIn(text: string, language: string): readonly (readonly Piece[])[] {
  const { _emitter: read } = highlighter.highlight(text, { language, ignoreIllegals: true });
  const all = read instanceof Pieces ? read.all : [];
  if (all.map((piece) => piece.text).join('') !== text) return [];
  const lines: Piece[][] = [[]];
  for (const { text: words, scope } of all)
    for (const [number, part] of words.split('\n').entries()) {
      if (number > 0) lines.push([]);
      if (part !== '') lines.at(-1)?.push({ text: part, scope });
    }
  return lines;
}
