import { describe, expect, test } from 'vitest';
import { promptFinder } from '../../src/approvals/screen-patterns.js';

const specified = ['Do you want to proceed\\?', '\\[y/N\\]', '\\[Y/n\\]', 'Continue\\?', 'Approve\\?'];

describe('the patterns of prompts', () => {
  test('find the lowest matching line, whatever its case', () => {
    const promptIn = promptFinder(specified);
    expect(promptIn(['Continue? y', 'working', 'continue? ', '$'])).toEqual({ line: 'continue? ', row: 2 });
    expect(promptIn(['Install it? [Y/N]'])?.row).toBe(0);
    expect(promptIn(['Continue', ''])).toBeUndefined();
    expect(promptFinder([])(['Continue?'])).toBeUndefined();
  });

  // A backtracking engine would not end within the life of the universe.
  test('end for a pattern that a backtracking engine never finishes', () => {
    const promptIn = promptFinder(['(x+x+)+y', '(a|a)*(a|aa)*b']);
    expect(promptIn(['x'.repeat(2_000), 'a'.repeat(2_000)])).toBeUndefined();
  });
});
