import { expect, it } from 'vitest';
import { AnswerTurns } from '../../src/keeper/wire/answer-turns.js';

it('one turn is given in each round of the event loop, in the order of asking', async () => {
  const turns = new AnswerTurns();
  const seen: string[] = [];
  const asked = ['a', 'b', 'c'].map(async (name) => {
    await turns.next();
    seen.push(name);
  });
  const rounds: string[] = [];
  while (seen.length < 3) {
    await new Promise((resolve) => setImmediate(resolve));
    rounds.push(seen.join(''));
  }
  await Promise.all(asked);
  expect(seen).toEqual(['a', 'b', 'c']);
  // Never two of them between one round and the next.
  expect(rounds.every((now, index) => now.length - (rounds[index - 1] ?? '').length <= 1)).toBe(true);
});

it('a turn is given again after all were taken', async () => {
  const turns = new AnswerTurns();
  await turns.next();
  await turns.next();
  await Promise.all([turns.next(), turns.next()]);
});
