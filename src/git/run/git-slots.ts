import { Slots } from '../../base/lifecycle.js';

/** Maximum of concurrent git and ripgrep processes. */
const RUNS = 8;

/** Each run of git or ripgrep takes one slot. To avoid deadlocks, code that has a slot must not wait for another one. */
export const gitRuns = new Slots(RUNS);
