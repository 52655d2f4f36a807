import { describe, expect, it } from 'vitest';
import { readRetryLine } from '../../../src/claude/trouble/retry-line.js';

describe('the line that announces a retry', () => {
  it.each([
    ['API error · Retrying in 2s · attempt 3/10', { kind: 'api-error', delayMs: 2_000, attempt: 3 }],
    [
      '500 Internal server error · retrying in 2s · attempt 3/10',
      { kind: 'overloaded', delayMs: 2_000, attempt: 3 },
    ],
    ['529 Overloaded · retrying in 16s · attempt 6/10', { kind: 'overloaded', delayMs: 16_000, attempt: 6 }],
    ['429 Slow down · retrying in 1m 2s · attempt 9/10', { kind: 'rate-limit', delayMs: 62_000, attempt: 9 }],
    [
      'Unable to connect to API · retrying in 32s · attempt 8/10',
      { kind: 'network', delayMs: 32_000, attempt: 8 },
    ],
  ])('%s', (line, expected) => {
    expect(readRetryLine(line)).toEqual(expected);
  });

  it('other text is not such a line', () => {
    expect(readRetryLine('Retrying soon')).toBeUndefined();
  });
});
