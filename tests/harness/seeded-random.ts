/** Numbers from 0 to below 1 that are the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `SOAK_SEED` repeats an earlier run. */
export function soakSeed(): number {
  return Number(process.env['SOAK_SEED'] ?? Date.now() % 1_000_000);
}

/** How many rounds of the long form: all of them, or the share that `SOAK_SHARE` says (0.1 for a tenth). */
export function soakRounds(all: number): number {
  return Math.max(1, Math.round(all * Number(process.env['SOAK_SHARE'] ?? 1)));
}
