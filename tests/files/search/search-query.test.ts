import { expect, it } from 'vitest';
import { globFilter } from '../../../src/files/search/glob-filter.js';
import { finder } from '../../../src/files/search/search-query.js';

it('an overlong query or glob is refused before it is parsed', () => {
  expect(() => finder('a'.repeat(4_001), false)).toThrow('The query is 4001 characters long; at most 4000');
  expect(() => finder('('.repeat(300_000), true)).toThrow('The query is 300000 characters long');
  expect(() => globFilter(`{${','.repeat(300_000)}`)).toThrow('The glob is 300001 characters long');
  expect(finder('b', false).find('abc')).toBe(1);
});

it('a text is searched in shorter pieces for a larger expression', () => {
  expect(finder('x', false).pieceChars).toBe(64 * 1024);
  expect(finder('foo.*bar', true).pieceChars).toBe(64 * 1024);
  const large = finder(`${'(a*)*'.repeat(200)}$`, true).pieceChars;
  expect(large).toBeGreaterThan(500);
  expect(large).toBeLessThan(5_000);
});

it('an expression that becomes too large is refused, with what to do', () => {
  expect(() => finder('(a{900})'.repeat(100), true)).toThrow(
    /regular expression is too large: it takes \d+ steps, at most 5000/,
  );
});

it.each([
  [' ', 'cannot match any file'],
  ['', 'cannot match any file'],
  ['!', 'cannot match any file'],
  ['x/', 'cannot match any file'],
  ['#x', 'begins with #, as a comment'],
  ['!!x', 'begins with !!'],
  ['[', 'has a [ without its ]'],
  ['{a', 'has a { without its }'],
  ['*.{ts,js', 'has a { without its }'],
  ['{a,{b,c}', 'has a { without its }'],
  ['a}', 'has a } without its {'],
  ['}{', 'has a } without its {'],
])('the glob "%s" is refused: it %s', (glob, flaw) => {
  expect(() => globFilter(glob)).toThrow(`The glob ${JSON.stringify(glob)} ${flaw}.`);
});

it.each([
  ['\\#x', '#x'],
  ['\\[', '['],
  ['\\{a', '{a'],
  ['[{]a', '{a'],
  ['{a,\\}}', '}'],
  ['[]]', ']'],
])('the glob "%s" matches %s', (glob, name) => {
  expect(globFilter(glob)(name)).toBe(true);
});
