import { expect, test } from 'vitest';
import { linesBetween, parseHunks, splitRows } from '../../src/board/parse-hunks.js';

const hunks = [
  '@@ -3,3 +3,3 @@ function sum() {',
  ' same',
  '-let total = 0;',
  '+const total = 0;',
  ' end',
].join('\n');

test('each line has its number before and now', () => {
  expect(parseHunks(hunks).map(({ kind, old, now, text }) => [kind, old, now, text])).toEqual([
    ['hunk', undefined, undefined, 'function sum() {'],
    ['same', 3, 3, 'same'],
    ['removed', 4, undefined, 'let total = 0;'],
    ['added', undefined, 4, 'const total = 0;'],
    ['same', 5, 5, 'end'],
  ]);
});

test('what lies between two hunks is counted, and unfolds with its numbers on both sides', () => {
  const lines = parseHunks('@@ -3 +3,2 @@\n c\n+new\n@@ -6 +7 @@\n-f\n+F');
  expect(lines.map(({ skipped }) => skipped)).toEqual([2, undefined, undefined, 2, undefined, undefined]);
  const now = ['a', 'b', 'c', 'new', 'd', 'e', 'F'];
  const shown = linesBetween(lines, 3, now).map((line) => [line.old, line.now, line.text]);
  expect(shown).toEqual([
    [4, 5, 'd'],
    [5, 6, 'e'],
  ]);
  expect(linesBetween(lines, 0, now).map(({ text }) => text)).toEqual(['a', 'b']);
});

test('in two columns what was taken away stands beside what came in its place', () => {
  const rows = splitRows(parseHunks('@@ -1,2 +1,3 @@\n-a\n+A\n+B\n c').slice(1));
  expect(rows.map(([left, right]) => [left?.text, right?.text])).toEqual([
    ['a', 'A'],
    [undefined, 'B'],
    ['c', 'c'],
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
  expect(lines.map(({ text }) => text)).toEqual(['', '---', '@@ -9 +9 @@']);
});

test('a line that lost its line end says so, and differs from the one that has it', () => {
  const lines = parseHunks('@@ -1 +1 @@\n-last\n+last\n\\ No newline at end of file');
  expect(lines.map(({ kind, text, end }) => [kind, text, end])).toEqual([
    ['hunk', '', undefined],
    ['removed', 'last', undefined],
    ['added', 'last', 'no newline at end of file'],
  ]);
});

test('CRLF is said once where all lines end so, and at its lines where only some do', () => {
  const all = parseHunks('@@ -1,2 +1,2 @@ class A {\r\n one\r\n-two\r\n+TWO\n\\ No newline at end of file');
  expect(all.map(({ text, end }) => [text, end])).toEqual([
    ['class A {', 'all lines end with CRLF'],
    ['one', undefined],
    ['two', undefined],
    ['TWO', 'no newline at end of file'],
  ]);
  const some = parseHunks('@@ -1 +1 @@\n-one\r\n+one');
  expect(some.map(({ text, end }) => [text, end])).toEqual([
    ['', undefined],
    ['one', 'CRLF'],
    ['one', undefined],
  ]);
});

test('a head of a hunk may hold any character of a line', () => {
  const [, line] = parseHunks('@@ -7 +7 @@ a\u2028b\r\n+one');
  expect(line?.now).toBe(7);
});
