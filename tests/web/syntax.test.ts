import { expect, test } from 'vitest';
import { parseHunks } from '../../src/board/parse-hunks.js';
import { piecesOf } from '../../web/views/syntax.js';

/** Of each line: its words of this scope, or null for a line that is plain. */
function inScope(path: string, hunks: string, scope: string) {
  const lines = parseHunks(hunks);
  const pieces = piecesOf(path, lines);
  return lines
    .filter(({ kind }) => kind !== 'hunk')
    .map((line) => {
      const found = pieces.get(line);
      // Nothing is lost or added.
      if (found !== undefined) expect(found.map(({ text }) => text).join('')).toBe(line.text);
      return found?.filter((piece) => piece.scope === scope).map(({ text }) => text) ?? null;
    });
}

test('each side of a hunk is read in the language that the name of the file says', () => {
  const hunks = '@@ -1,3 +1,3 @@\n /* one\n-two\n+2 */ let a;\n three */\n@@ -9 +9 @@\n-let b\n+const b';
  expect(inScope('src/a.ts', hunks, 'comment')).toEqual([['/* one'], ['two'], ['2 */'], [], [], []]);
  expect(inScope('src/a.ts', hunks, 'keyword').slice(-2)).toEqual([['let'], ['const']]);
  expect(inScope('web/Makefile', '@@ -0,0 +1 @@\n+# a', 'comment')).toEqual([['# a']]);
});

test('a file in no known language and a line that is huge are plain', () => {
  expect(inScope('a.constructor', '@@ -0,0 +1 @@\n+let a', 'keyword')).toEqual([null]);
  expect(inScope('a.js', `@@ -0,0 +1,2 @@\n+let ${'a'.repeat(600)}\n+let b`, 'keyword')).toEqual([
    null,
    ['let'],
  ]);
});
