import { expect, test } from 'vitest';
import { cutMiddle, headAndTail, oneLine, tailLines } from '../../../src/base/text/text.js';

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

test('a text that is cut twice says how much is left out in all', () => {
  const whole = 'x'.repeat(10_000);
  const once = cutMiddle({ text: whole, leftOut: 0 }, 8_000);
  expect(cutMiddle(cutMiddle(once, 1_000), 200)).toEqual(cutMiddle({ text: whole, leftOut: 0 }, 200));
});

test.each([
  ['one\ntwo\nthree', 100, 'one\ntwo\nthree'],
  ['one\ntwo\nthree', 10, 'two\nthree'],
  ['one\ntwo\nthree', 9, 'two\nthree'],
  ['one\ntwo\nthree', 8, 'three'],
  ['one\nlongest', 4, 'gest'],
])('of %j the last lines that fit into %i characters are kept whole', (text, maxChars, kept) => {
  expect(tailLines(text, maxChars)).toBe(kept);
});
