import { expect, it } from 'vitest';
import { killRounds, victims } from '../soak/kill-rounds.js';

/** The long form, with a hundred rounds and other seeds, is `npm run test:soak`. */
const ROUNDS = 2;
const SEED = 7;

it.each(victims)('a %s that is killed at any moment loses nothing and leaves nothing', async (victim) => {
  await expect(killRounds(victim, ROUNDS, SEED)).resolves.toBeUndefined();
});
