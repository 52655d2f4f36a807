import { expect, test } from 'vitest';
import { parseHunks } from '../../src/board/parse-hunks.js';

const hunks = [
  '@@ -3,3 +3,3 @@ function sum() {',
  ' same',
  '-let total = 0;',
  '+const total = 0;',
  ' end',
].join('\n');

test('each line has its number before and now', () => {
  expect(parseHunks(hunks).map(({ kind, old, now, text }) => [kind, old, now, text])).toEqual([
    ['hunk', undefined, undefined, '@@ -3,3 +3,3 @@ function sum() {'],
    ['same', 3, 3, 'same'],
    ['removed', 4, undefined, 'let total = 0;'],
    ['added', undefined, 4, 'const total = 0;'],
    ['same', 5, 5, 'end'],
  ]);
});

test('of a line that stands for another one the part that differs is marked', () => {
  const [, , removed, added] = parseHunks(hunks);
  expect(removed?.text.slice(...(removed.changed ?? [0, 0]))).toBe('le');
  expect(added?.text.slice(...(added.changed ?? [0, 0]))).toBe('cons');
});

test('lines that have little in common are not marked', () => {
  const [, removed] = parseHunks('@@ -1 +1 @@\n-abcdef\n+uvwxyz');
  expect(removed?.changed).toBeUndefined();
});

test('a line of the file that looks like a header is a line', () => {
  const lines = parseHunks('@@ -1 +1,2 @@\n ---\n+@@ -9 +9 @@\n\\ No newline at end of file');
  expect(lines.map(({ text }) => text)).toEqual(['@@ -1 +1,2 @@', '---', '@@ -9 +9 @@']);
});
