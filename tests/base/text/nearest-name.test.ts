import { expect, test } from 'vitest';
import { nearestName } from '../../../src/base/text/nearest-name.js';

const known = ['path', 'prompt', 'timeout_seconds'];

test.each([
  ['promt', 'prompt'],
  ['timeout_second', 'timeout_seconds'],
  ['timeoutSeconds', 'timeout_seconds'],
  ['paht', 'path'],
  ['x', undefined],
  ['command', undefined],
  ['', undefined],
  ['p'.repeat(100_000), undefined],
])('%s is meant to be %s', (name, nearest) => {
  expect(nearestName(name, known)).toBe(nearest);
});

test('finds nothing among no known names', () => {
  expect(nearestName('path', [])).toBeUndefined();
});
