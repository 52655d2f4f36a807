import { expect, it } from 'vitest';
import { soakRounds, soakSeed } from '../../harness/seeded-random.js';
import { checkedHistory } from '../histories/record-history.js';

const HISTORIES = 40;
const ROUNDS = 25;

const first = soakSeed();
const seeds = Array.from({ length: soakRounds(HISTORIES) }, (_, index) => first + index);

it.each(seeds)(
  'history %i of three servers under kills, stops and jumping clocks agrees with one model',
  async (seed) => {
    const words = await checkedHistory(ROUNDS, seed);
    process.stdout.write(`a history of SOAK_SEED=${seed}: ${words}\n`);
    expect(words).toMatch(/\d+ agents/);
  },
);
