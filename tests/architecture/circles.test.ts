import { expect, test } from 'vitest';
import { circularImports } from './circles.js';

test('finds circles of any length, and nothing beside them', () => {
  const graph = new Map([
    ['main', ['a', 'leaf']],
    ['a', ['b']],
    ['b', ['c', 'leaf']],
    ['c', ['a']],
    ['self', ['self']],
    ['leaf', []],
  ]);
  expect(circularImports(graph)).toEqual(['a → b', 'b → c', 'c → a', 'self → self']);
  expect(circularImports(new Map([['main', ['leaf']]]))).toEqual([]);
});
