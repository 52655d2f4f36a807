import { expect, it } from 'vitest';
import { budgetFor, budgetState, spentOf, usedWords } from '../../../src/tasks/budget/budget.js';

it('tokens of all kinds and models count', () => {
  const one = { input: 1, output: 20, cacheRead: 300, cacheWrite: 4_000 };
  expect(spentOf({ models: { a: one, b: one }, costUsd: null })).toEqual({ costUsd: null, tokens: 8_642 });
});

it('a call has its own limits up to those of the setting; one that asks for more is refused', () => {
  const setting = { max_cost_usd: 2, max_tokens: 10 };
  expect(budgetFor({ max_cost_usd: 1, max_tokens: undefined }, setting)).toEqual({
    max_cost_usd: 1,
    max_tokens: 10,
  });
  expect(budgetFor({ max_cost_usd: 5 }, { max_cost_usd: null })).toEqual({
    max_cost_usd: 5,
    max_tokens: null,
  });
  expect(() => budgetFor({ max_cost_usd: 5 }, setting)).toThrow(
    'max_cost_usd is 5, and the setting task_budget allows 2 for one task.',
  );
});

it('a limit is low from four fifths on, and used when it is reached; the one nearest to its end is named', () => {
  const budget = { max_cost_usd: 2, max_tokens: 50_000 };
  expect(budgetState({ costUsd: 1.59, tokens: 39_999 }, budget)).toBeUndefined();
  expect(budgetState({ costUsd: 1.6, tokens: 10 }, budget)).toEqual({
    state: 'low',
    words: '$1.60 of $2.00',
  });
  expect(budgetState({ costUsd: 1.7, tokens: 50_000 }, budget)).toEqual({
    state: 'used',
    words: '50,000 of 50,000 tokens',
  });
  expect(budgetState({ costUsd: null, tokens: 1 }, { max_cost_usd: 2 })).toBeUndefined();
});

it('what a task has used is said with its limits, and where nothing is known nothing is said', () => {
  expect(usedWords({ cost_usd: 1.624, tokens: 41_200, budget: { max_cost_usd: 2 } })).toBe(
    '$1.62 of $2.00, 41,200 tokens',
  );
  expect(usedWords({ tokens: 12, budget: { max_tokens: 50_000 } })).toBe('12 of 50,000 tokens');
  expect(usedWords({ cost_usd: 0.0123 })).toBe('$0.0123');
  expect(usedWords({})).toBe('');
});
