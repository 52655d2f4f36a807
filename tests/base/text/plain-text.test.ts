import { expect, test } from 'vitest';
import { plainText } from '../../../src/base/text/plain-text.js';

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
