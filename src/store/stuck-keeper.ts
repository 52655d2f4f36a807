import { sleep, type Clock } from '../base/clock.js';
import { pidOf } from '../os/pid.js';
import { signalProcesses } from '../os/send-signals.js';
import { ownIdentity, processState } from './process-identity.js';
import { placeOf, type ProcessIdentity } from './process-place.js';

/** A keeper that runs again ends its task or process by signals, with some seconds for each. */
const WAKE_LIMIT_MS = 15_000;
/** Only a process that is stuck in the kernel survives SIGKILL for longer. */
const AFTER_KILL_MS = 5_000;
const POLL_MS = 50;

export interface StuckKeeper {
  readonly keeper: ProcessIdentity;
  readonly clock: Clock;
  /** Makes the error for a keeper that cannot be ended; `why` is a main clause. */
  readonly cannotEnd: (why: string) => Error;
}

/**
 * Signals a keeper that does not answer: that very process, never one that reuses its pid. SIGCONT resumes a stopped one, SIGTERM asks it to
 * end its task or process and exit. False when it is gone. Throws `cannotEnd` when it may not be signalled.
 */
export async function signalKeeper(
  { keeper, cannotEnd }: StuckKeeper,
  name: 'SIGCONT' | 'SIGTERM' | 'SIGKILL',
): Promise<boolean> {
  const itsKeeper = `its keeper, process ${keeper.pid},`;
  const state = await processState(keeper);
  if (state === 'gone') return false;
  if (placeOf(keeper, await ownIdentity()) === 'elsewhere')
    throw cannotEnd(`${itsKeeper} runs in another container or on another machine`);
  const pid = pidOf(keeper.pid);
  if (pid === undefined || keeper.start_time === null || state !== 'alive')
    throw cannotEnd(`the system does not report whether process ${keeper.pid} is its keeper`);
  const [result] = await signalProcesses([{ pid, startId: keeper.start_time }], [name]);
  if (result === 'spared') throw cannotEnd(`process ${pid} is this process or one of its ancestors`);
  if (result === 'refused') throw cannotEnd(`${itsKeeper} may not be signalled`);
  return result === 'sent';
}

/** Whether the keeper is gone, or exits within `limitMs` after the signal: the time in which one ends its task or process. */
export async function keeperLeaves(
  stuck: StuckKeeper,
  name: 'SIGTERM' | 'SIGKILL' = 'SIGTERM',
  limitMs = WAKE_LIMIT_MS,
): Promise<boolean> {
  const { keeper, clock } = stuck;
  if (!(await signalKeeper(stuck, name))) return true;
  const giveUpMs = clock.monotonicMs() + limitMs;
  while ((await processState(keeper)) !== 'gone') {
    if (clock.monotonicMs() >= giveUpMs) return false;
    await sleep(clock, POLL_MS);
  }
  return true;
}

/** Throws `cannotEnd` when it survives. */
export async function killKeeper(stuck: StuckKeeper): Promise<void> {
  if (!(await keeperLeaves(stuck, 'SIGKILL', AFTER_KILL_MS)))
    throw stuck.cannotEnd(`its keeper, process ${stuck.keeper.pid}, still runs after SIGKILL`);
}
