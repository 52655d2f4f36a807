import { expect, it } from 'vitest';
import { isReadable } from '../../web/markdown/is-readable.js';

it.each([
  ['quotes', '> '.repeat(3_000)],
  ['lists', '- '.repeat(3_000)],
  ['numbered lists', `# Plan\n\n${'1. '.repeat(3_000)}x`],
  ['a mixture', '1. > - 2) '.repeat(500)],
  ['a long text', 'word '.repeat(30_000)],
])('%s that could stop the page are not parsed', (_what, text) => {
  expect(isReadable(text)).toBe(false);
});

it('a plan is parsed, and one of empty lines alone is judged at once', () => {
  expect(isReadable('# Plan\n\n1. one\n   - two\n\n> said\n')).toBe(true);
  expect(isReadable('\n'.repeat(99_000))).toBe(true);
});
