import { sleep, type Clock } from '../base/clock.js';
import { pidOf } from '../os/pid.js';
import { signalProcesses, type SignalResult } from '../os/send-signals.js';
import { isSameProcess, ownIdentity, processState } from './process-identity.js';
import { placeOf, type ProcessIdentity } from './process-place.js';

const POLL_MS = 50;

/**
 * `unsure`: no signal was sent, since the system does not report whether it is that process. `elsewhere`: the pid belongs to another
 * pid namespace or machine.
 */
export type SignalOutcome = SignalResult | 'unsure' | 'elsewhere';

/** Signals that very process, never one that reuses its pid. */
export async function signalProcess(identity: ProcessIdentity, name: NodeJS.Signals): Promise<SignalOutcome> {
  if ((await processState(identity)) === 'gone') return 'gone';
  if (placeOf(identity, await ownIdentity()) === 'elsewhere') return 'elsewhere';
  const pid = pidOf(identity.pid);
  if (pid === undefined || identity.start_time === null || !(await isSameProcess(identity))) return 'unsure';
  const [result = 'gone'] = await signalProcesses([{ pid, startId: identity.start_time }], [name]);
  return result;
}

/** Why the keeper was not signalled, as a clause; undefined if it was, or is gone. */
export function whyNotSignalled(outcome: SignalOutcome, { pid }: ProcessIdentity): string | undefined {
  if (outcome === 'unsure') return `the system does not report whether process ${pid} is its keeper`;
  if (outcome === 'elsewhere')
    return `its keeper, process ${pid}, runs in another container or on another machine`;
  if (outcome === 'spared') return `process ${pid} is this process or one of its ancestors`;
  if (outcome === 'refused') return `its keeper, process ${pid}, may not be signalled`;
  return undefined;
}

/** False when the process still runs after `limitMs`. */
export async function isGoneWithin(
  identity: ProcessIdentity,
  clock: Clock,
  limitMs: number,
): Promise<boolean> {
  const giveUpMs = clock.monotonicMs() + limitMs;
  while ((await processState(identity)) !== 'gone') {
    if (clock.monotonicMs() >= giveUpMs) return false;
    await sleep(clock, POLL_MS);
  }
  return true;
}
