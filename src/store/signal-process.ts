import { sleep, type Clock } from '../base/clock.js';
import { systemCodeOf } from '../base/errors.js';
import {
  isSameProcess,
  ownIdentity,
  placeOf,
  processState,
  type ProcessIdentity,
} from './process-identity.js';

const LOOK_MS = 50;

/**
 * `unsure`: the system does not say whether it is that process, so it got none. `elsewhere`: its pid is of another pid
 * namespace or machine. `refused`: it belongs to someone else.
 */
export type SignalOutcome = 'sent' | 'gone' | 'unsure' | 'elsewhere' | 'refused';

/** Signals that very process, and no other that has its number now. */
export async function signalProcess(identity: ProcessIdentity, name: NodeJS.Signals): Promise<SignalOutcome> {
  if ((await processState(identity)) === 'gone') return 'gone';
  if (placeOf(identity, await ownIdentity()) === 'elsewhere') return 'elsewhere';
  if (!(await isSameProcess(identity))) return 'unsure';
  try {
    process.kill(identity.pid, name);
    return 'sent';
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === 'ESRCH') return 'gone';
    if (code === 'EPERM') return 'refused';
    throw thrown;
  }
}

/** In words why the signal did not go to the keeper of something; undefined when nothing stood in its way. */
export function whyNotSignalled(outcome: SignalOutcome, { pid }: ProcessIdentity): string | undefined {
  if (outcome === 'unsure') return `the system does not say whether process ${pid} is its keeper`;
  if (outcome === 'elsewhere')
    return `its keeper, process ${pid}, runs in another container or on another machine`;
  if (outcome === 'refused') return `its keeper, process ${pid}, may not be signalled`;
  return undefined;
}

/** False when it is still there after `limitMs`. */
export async function isGoneWithin(
  identity: ProcessIdentity,
  clock: Clock,
  limitMs: number,
): Promise<boolean> {
  const giveUpMs = clock.monotonicMs() + limitMs;
  while ((await processState(identity)) !== 'gone') {
    if (clock.monotonicMs() >= giveUpMs) return false;
    await sleep(clock, LOOK_MS);
  }
  return true;
}
