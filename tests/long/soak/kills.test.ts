import { expect, it } from 'vitest';
import { killRounds, victims } from './kill-rounds.js';
import { soakRounds, soakSeed } from '../../harness/seeded-random.js';

const ROUNDS = 100;

it.each(victims)(
  'the %s is killed at a hundred random moments, and every task stays true',
  async (victim) => {
    const seed = soakSeed();
    const rounds = soakRounds(ROUNDS);
    process.stdout.write(`${victim}: ${rounds} rounds, SOAK_SEED=${seed}\n`);
    await killRounds(victim, rounds, seed);
    expect(rounds).toBeGreaterThan(0);
  },
);
