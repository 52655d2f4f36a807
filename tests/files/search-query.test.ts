import { expect, it } from 'vitest';
import { finder, globFilter } from '../../src/files/search-query.js';

it('a query or glob that is too long to be meant is refused before anything reads it', () => {
  expect(() => finder('a'.repeat(4_001), false)).toThrow('The query is 4001 characters long; at most 4000');
  expect(() => finder('('.repeat(300_000), true)).toThrow('The query is 300000 characters long');
  expect(() => globFilter(`{${','.repeat(300_000)}`)).toThrow('The glob is 300001 characters long');
  expect(finder('b', false)('abc')).toBe(1);
});
