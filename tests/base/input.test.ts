import { expect, test } from 'vitest';
import { nearestName } from '../../src/base/input.js';

const known = ['path', 'prompt', 'timeout_seconds'];

test.each([
  ['promt', 'prompt'],
  ['timeoutSeconds', 'timeout_seconds'],
  ['paht', 'path'],
  ['x', undefined],
  ['command', undefined],
  ['p'.repeat(100_000), undefined],
])('%s is meant to be %s', (name, nearest) => {
  expect(nearestName(name, known)).toBe(nearest);
});
