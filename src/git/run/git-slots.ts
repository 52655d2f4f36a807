import { Slots } from '../../base/slots.js';

/** A process has at most this many git and ripgrep at once. */
const RUNS = 8;

/** For each run of git or ripgrep. The holder of one waits for no other. */
export const gitRuns = new Slots(RUNS);
