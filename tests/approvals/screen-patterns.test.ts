import { describe, expect, test } from 'vitest';
import { ScreenPatterns } from '../../src/approvals/screen-patterns.js';

const specified = ['Do you want to proceed\\?', '\\[y/N\\]', '\\[Y/n\\]', 'Continue\\?', 'Approve\\?'];

describe('ScreenPatterns', () => {
  test('finds the lowest matching line, whatever its case', () => {
    const patterns = new ScreenPatterns(specified);
    expect(patterns.match(['Continue? y', 'working', 'continue? ', '$'])).toEqual({
      line: 'continue? ',
      row: 2,
    });
    expect(patterns.match(['Install it? [Y/N]'])?.row).toBe(0);
    expect(patterns.match(['Continue', ''])).toBeUndefined();
    expect(new ScreenPatterns([]).match(['Continue?'])).toBeUndefined();
  });

  test.each(['', 'a*', '\\b', '$'])('refuses %j, which matches the empty string', (pattern) => {
    expect(() => new ScreenPatterns(['ok', pattern]).match([])).toThrow(
      `auto_approve_patterns[1] is ${JSON.stringify(pattern)}, which cannot be used: it matches the empty string`,
    );
  });

  test.each(['[', '(?=a)b', '(a)\\1', '((a{100}){100}){100}'])('refuses %j, which RE2 rejects', (pattern) => {
    expect(() => new ScreenPatterns([pattern]).match([])).toThrow(
      expect.objectContaining({ code: 'CONFIG_ERROR' }),
    );
  });

  // A backtracking engine would not end within the life of the universe.
  test('ends for a pattern that a backtracking engine never finishes', () => {
    const patterns = new ScreenPatterns(['(x+x+)+y', '(a|a)*(a|aa)*b']);
    expect(patterns.match(['x'.repeat(2_000), 'a'.repeat(2_000)])).toBeUndefined();
  });
});
