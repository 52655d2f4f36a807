import { expect, it } from 'vitest';
import { addedSessionUsage } from '../../src/claude/usage.js';

const tokens = (count: number) => ({ input: count, output: count, cacheRead: count, cacheWrite: count });

it('tokens are added per model', () => {
  expect(
    addedSessionUsage(
      { models: { one: tokens(1), both: tokens(2) }, costUsd: 1 },
      { models: { both: tokens(3), other: tokens(4) }, costUsd: 2 },
    ),
  ).toEqual({ models: { one: tokens(1), both: tokens(5), other: tokens(4) }, costUsd: 3 });
});

it('the cost is unknown if one of them is', () => {
  const known = { models: {}, costUsd: 1 };
  const unknown = { models: {}, costUsd: null };
  expect(addedSessionUsage(known, unknown).costUsd).toBeNull();
  expect(addedSessionUsage(unknown, known).costUsd).toBeNull();
});
