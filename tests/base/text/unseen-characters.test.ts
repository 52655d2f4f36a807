import { expect, it } from 'vitest';
import { shownLine } from '../../../src/base/text/shown-line.js';
import { hasUnseen, shownCharacters } from '../../../src/base/text/unseen-characters.js';

it.each([
  0x00, 0x08, 0x1b, 0x7f, 0x85, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180b, 0x180e, 0x200b,
  0x200d, 0x2028, 0x202e, 0x202f, 0x2065, 0x2066, 0x2800, 0x3164, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff9,
  0xfffb,
])('the character %i is shown as an escape', (code) => {
  const text = `a${String.fromCodePoint(code)}b`;
  expect(hasUnseen(text)).toBe(true);
  expect(shownCharacters(text)).toBe(`a\\u${code.toString(16).padStart(4, '0')}b`);
});

it.each([0x1d173, 0xe0001, 0xe0041, 0xe0100])('the astral character %i is shown as an escape', (code) => {
  const text = `a${String.fromCodePoint(code)}b`;
  expect(hasUnseen(text)).toBe(true);
  expect(shownCharacters(text)).toBe(`a\\u{${code.toString(16)}}b`);
});

it.each(['plain\n\ttext', 'שלום é 日本', '❤\ufe0f ✔\ufe0f', '👩\u200d💻', '👩🏽\u200d💻 👁\ufe0f\u200d🗨\ufe0f'])(
  '%j is shown as it is',
  (text) => {
    expect(hasUnseen(text)).toBe(false);
    expect(shownCharacters(text)).toBe(text);
  },
);

it.each([
  ['❤\ufe0f\ufe0f', '❤\ufe0f\\ufe0f'],
  ['1\ufe0f', '1\\ufe0f'],
  ['👩\u200drm', '👩\\u200drm'],
  ['rm\u200d👩', 'rm\\u200d👩'],
])('what is no part of an emoji is shown: %j', (text, shown) => {
  expect(shownCharacters(text)).toBe(shown);
});

it('a line is one line, cut at its end', () => {
  expect(shownLine('a\r\nb\nc\rd\u2028\u200b\te')).toBe('a ⏎ b ⏎ c ⏎ d\\u2028\\u200b\\u0009e');
  expect(shownLine('\u200b'.repeat(10), 12)).toBe('\\u200b\\u200…');
});
