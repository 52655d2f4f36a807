import { expect, test } from 'vitest';
import { requireUsable } from '../../../src/files/search/search-query.js';

test('an overlong query or glob is refused before it is parsed', () => {
  expect(() => requireUsable({ query: 'a'.repeat(4_001) })).toThrow(
    'The query is 4001 characters long; at most 4000',
  );
  expect(() => requireUsable({ query: 'a', glob: `{${','.repeat(300_000)}` })).toThrow(
    'The glob is 300001 characters long',
  );
});

test.each(['', ' ', '!', 'x/', '#x', '!!x', 'a\nb'])(
  'the glob "%s", which ripgrep would read as none or as another, is refused',
  (glob) => {
    expect(() => requireUsable({ query: 'a', glob })).toThrow('cannot match any file');
  },
);
