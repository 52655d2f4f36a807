import { sleep, type Clock } from '../base/clock.js';
import { pidOf } from '../os/pid.js';
import { signalProcesses, type SignalResult } from '../os/send-signals.js';
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
 * namespace or machine.
 */
export type SignalOutcome = SignalResult | 'unsure' | 'elsewhere';

/** Signals that very process, and no other that has its number now. */
export async function signalProcess(identity: ProcessIdentity, name: NodeJS.Signals): Promise<SignalOutcome> {
  if ((await processState(identity)) === 'gone') return 'gone';
  if (placeOf(identity, await ownIdentity()) === 'elsewhere') return 'elsewhere';
  const pid = pidOf(identity.pid);
  if (pid === undefined || identity.start_time === null || !(await isSameProcess(identity))) return 'unsure';
  const [result = 'gone'] = await signalProcesses([{ pid, startId: identity.start_time }], [name]);
  return result;
}

/** In words why the signal did not go to the keeper of something; undefined when nothing stood in its way. */
export function whyNotSignalled(outcome: SignalOutcome, { pid }: ProcessIdentity): string | undefined {
  if (outcome === 'unsure') return `the system does not say whether process ${pid} is its keeper`;
  if (outcome === 'elsewhere')
    return `its keeper, process ${pid}, runs in another container or on another machine`;
  if (outcome === 'spared') return `process ${pid} is this process, or one that this one runs in`;
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
