import { expect, test } from 'vitest';
import { oneLine } from '../../../src/base/text/text.js';

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
