import { expect, it } from 'vitest';
import { soakRounds, soakSeed } from '../../harness/seeded-random.js';
import { checkedHistory } from './record-history.js';

const isSoak = process.env['SOAK'] === '1';
/** The soak has many longer ones, of other seeds. */
const ROUNDS = isSoak ? 25 : 14;
const HISTORIES = isSoak ? soakRounds(40) : 1;
const FIRST_SEED = isSoak ? soakSeed() : Number(process.env['SOAK_SEED'] ?? 1);
/** A minute or two; beside other work some more. */
const LIMIT_MS = 600_000;

it.each(Array.from({ length: HISTORIES }, (_, index) => FIRST_SEED + index))(
  'three servers under kills, stops and jumping clocks, one in another pid namespace, agree with one model (%i)',
  { timeout: LIMIT_MS },
  async (seed) => {
    const words = await checkedHistory(ROUNDS, seed);
    process.stdout.write(`a history of SOAK_SEED=${seed}: ${words}\n`);
    expect(words).toMatch(/\d+ agents/);
  },
);
