import { Slots } from './slots.js';

/** With these a process has at most 16 git at once: 8, and 4 times 2. */
const RUNS = 8;
const WALKS = 4;

/** For each run of git that ends by itself. Whoever holds one waits for no other. */
export const gitRuns = new Slots(RUNS);

/** For each listing or search in a repository: it keeps at most two git that answer one question after another. */
export const gitWalks = new Slots(WALKS);
