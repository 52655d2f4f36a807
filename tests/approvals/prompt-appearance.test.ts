import { describe, expect, test } from 'vitest';
import { PromptAppearance, type SeenPrompt } from '../../src/approvals/screen-patterns.js';

const prompt = (row: number, line = 'Continue? [y/N]'): SeenPrompt => ({ row, line });

function answersTo(seen: readonly (SeenPrompt | undefined)[]): number[] {
  const appearance = new PromptAppearance();
  return seen.flatMap((one, index) => (appearance.isNew(one) ? [index] : []));
}

describe('PromptAppearance', () => {
  test('answers a prompt that is repainted ten times once', () => {
    expect(answersTo(Array.from({ length: 10 }, () => prompt(3)))).toEqual([0]);
  });

  test('does not mistake its own echo for a new prompt, wherever a reflow moves it', () => {
    expect(answersTo([prompt(3), prompt(3, 'Continue? [y/N] y'), prompt(2, 'Continue? [y/N] y')])).toEqual([
      0,
    ]);
    expect(answersTo([prompt(3), prompt(3, 'Continue? [y/N] y … done')])).toEqual([0]);
  });

  test('answers a second prompt with the same text below the first', () => {
    expect(answersTo([prompt(3), prompt(3, 'Continue? [y/N] y'), prompt(4), prompt(4)])).toEqual([0, 2]);
    expect(answersTo([prompt(3), prompt(4)])).toEqual([0, 1]);
  });
});
