import { expect, test } from 'vitest';
import {
  hasUnseen,
  headAndTail,
  oneLine,
  plainText,
  shownCharacters,
  shownLine,
  tailLines,
} from '../../src/base/text.js';

test.each(['\u0000', '\u001b', '\u001c', '\u0085', '\u009b', '\u2028', '\u202e', '\u2066', '\t'])(
  'a text on one line shows %j as an escape',
  (char) => {
    const escape = `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
    expect(oneLine(`a${char}b`, 100)).toBe(`a${escape}b`);
  },
);

test('oneLine shows line ends as a symbol, and keeps other letters', () => {
  expect(oneLine('a\r\nb\nc\rd שלום é', 100)).toBe('a ⏎ b ⏎ c ⏎ d שלום é');
});

test('a text that is too long keeps its beginning and its end, with how much is left out, and whole characters', () => {
  expect(headAndTail('abcdef', 6)).toBe('abcdef');
  expect(headAndTail('abcdefg', 4)).toBe('ab\n… 3 characters left out …\nfg');
  expect(headAndTail('a😀bcd😀e', 4)).toBe('a\n… 7 characters left out …\ne');
});

test.each([
  ['one\ntwo\nthree', 100, 'one\ntwo\nthree'],
  ['one\ntwo\nthree', 10, 'two\nthree'],
  ['one\ntwo\nthree', 8, 'three'],
  ['one\nlongest', 4, 'gest'],
])('of %j the last whole lines that fit into %i characters are returned', (text, maxChars, kept) => {
  expect(tailLines(text, maxChars)).toBe(kept);
});

test.each([
  0x00, 0x08, 0x1b, 0x7f, 0x85, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180b, 0x180e, 0x200b,
  0x200d, 0x2028, 0x202e, 0x202f, 0x2065, 0x2066, 0x2800, 0x3164, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff9,
  0xfffb,
])('the character %i is shown as an escape', (code) => {
  const text = `a${String.fromCodePoint(code)}b`;
  expect(hasUnseen(text)).toBe(true);
  expect(shownCharacters(text)).toBe(`a\\u${code.toString(16).padStart(4, '0')}b`);
});

test.each([0x1d173, 0xe0001, 0xe0041, 0xe0100])('the astral character %i is shown as an escape', (code) => {
  const text = `a${String.fromCodePoint(code)}b`;
  expect(hasUnseen(text)).toBe(true);
  expect(shownCharacters(text)).toBe(`a\\u{${code.toString(16)}}b`);
});

test.each([
  'plain\n\ttext',
  'שלום é 日本',
  '❤\ufe0f ✔\ufe0f',
  '👩\u200d💻',
  '👩🏽\u200d💻 👁\ufe0f\u200d🗨\ufe0f',
])('%j is shown as it is', (text) => {
  expect(hasUnseen(text)).toBe(false);
  expect(shownCharacters(text)).toBe(text);
});

test.each([
  ['❤\ufe0f\ufe0f', '❤\ufe0f\\ufe0f'],
  ['1\ufe0f', '1\\ufe0f'],
  ['👩\u200drm', '👩\\u200drm'],
  ['rm\u200d👩', 'rm\\u200d👩'],
])('what is no part of an emoji is shown: %j', (text, shown) => {
  expect(shownCharacters(text)).toBe(shown);
});

test('a line is one line, cut at its end', () => {
  expect(shownLine('a\r\nb\nc\rd\u2028\u200b\te')).toBe('a ⏎ b ⏎ c ⏎ d\\u2028\\u200b\\u0009e');
  expect(shownLine('\u200b'.repeat(10), 12)).toBe('\\u200b\\u200…');
});

test.each([
  ['a title with spaces', '\u001b]0;ann@host: my app\u0007text', 'text'],
  ['a link', '\u001b]8;id=1;http://a.example/b c\u001b\\link\u001b]8;;\u001b\\', 'link'],
  ['a string that another sequence cuts short', '\u001b]0;title\u001b[31mred', 'red'],
  ['a string that is not over', 'text\u001b]0;tit', 'text'],
  ['strings for the terminal', '\u001bP1$r0m\u001b\\a\u001b_b c\u001b\\d\u001b^e\u001b\\f', 'adf'],
  ['colors with colons', '\u001b[38:2:1:2:3mred\u001b[0m', 'red'],
  ['a private form', '\u001b[>4;2m\u001b[1 q\u001b[?2026htext', 'text'],
  ['a character set', '\u001b(Btext\u001b7\u001b8', 'text'],
  ['the short form of CSI', '\u009b31mred\u0085\u009d', 'red'],
])('plain text holds nothing of %s', (_, raw, plain) => {
  expect(plainText(raw)).toBe(plain);
});

test('a program that never ends a title hides none of its output', () => {
  const words = 'all that follows, '.repeat(1_000);
  expect(plainText(`\u001b]0;${words}`)).toBe(`0;${words}`);
});

// What looks back for each character takes longer than a test may.
test('plain text is made, whatever the output is', () => {
  for (const piece of ['\u001b', '\u001b]', '\u001b[', '\u001b[0;', '\u001b ', '\u001b]x\u001b', '\r', '\b'])
    plainText(piece.repeat(100_000));
  plainText(`\u001b]${'x'.repeat(5_000)}`.repeat(200));
  expect(plainText('\b'.repeat(100_000))).toBe('');
});
