import { expect, it } from 'vitest';
import { isMet, onTree, type CheckRun } from '../../../src/checks/result.js';

const met: CheckRun = { rounds: 0, results: [{ name: 'unit', command: 'true', verdict: 'met' }] };

it.each([
  ['the tree that it ran on', 'aa', true],
  ['another one', 'bb', false],
  ['one that could not be read', undefined, false],
])('what was met on %s counts for it alone', (_, tree, counts) => {
  expect(isMet(onTree({ ...met, tree }, 'aa'))).toBe(counts);
});
