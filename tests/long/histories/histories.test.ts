import { expect, it } from 'vitest';
import { checkedHistory } from './record-history.js';

/** The long form, with many histories of other seeds, is `npm run test:soak`. */
const ROUNDS = 14;
/** `SOAK_SEED` repeats another one. */
const SEED = Number(process.env['SOAK_SEED'] ?? 1);
const LIMIT_MS = 240_000;

it(
  'three servers under kills, stops and jumping clocks, one in another pid namespace, agree with one model',
  { timeout: LIMIT_MS },
  async () => {
    const words = await checkedHistory(ROUNDS, SEED);
    process.stdout.write(`a history of SOAK_SEED=${SEED}: ${words}\n`);
    expect(words).toMatch(/\d+ agents/);
  },
);
