import { expect, it } from 'vitest';
import { addedSessionUsage } from '../../src/claude/usage.js';

it('the cost is unknown if one of them is', () => {
  const known = { models: {}, costUsd: 1 };
  const unknown = { models: {}, costUsd: null };
  expect(addedSessionUsage(known, unknown).costUsd).toBeNull();
  expect(addedSessionUsage(unknown, known).costUsd).toBeNull();
});
