import { sleep, type Clock } from '../base/clock.js';
import { pidOf } from '../os/pid.js';
import { signalProcesses, type SignalResult } from '../os/send-signals.js';
import { isSameProcess, ownIdentity, processState } from './process-identity.js';
import { placeOf, type ProcessIdentity } from './process-place.js';

/** A keeper that runs again ends its task or process by signals, with some seconds for each. */
const WAKE_LIMIT_MS = 15_000;
/** Only a process that is stuck in the kernel survives SIGKILL for longer. */
const AFTER_KILL_MS = 5_000;
const POLL_MS = 50;

export interface StuckKeeperOptions {
  readonly keeper: ProcessIdentity;
  readonly clock: Clock;
  /** Makes the error for a keeper that cannot be ended; `why` is a main clause. */
  readonly cannotEnd: (why: string) => Error;
}

/** Ends a keeper that does not answer, by signals to that very process, never to one that reuses its pid. */
export class StuckKeeper {
  readonly #options: StuckKeeperOptions;

  constructor(options: StuckKeeperOptions) {
    this.#options = options;
  }

  /** Resumes a stopped keeper. False when it is gone. Throws `cannotEnd` when it may not be signalled. */
  wake(): Promise<boolean> {
    return this.#signal('SIGCONT');
  }

  /** Asks the keeper to end its task or process and exit. False when it still runs after 15 seconds. */
  async leaves(): Promise<boolean> {
    return !(await this.#signal('SIGTERM')) || this.#isGoneWithin(WAKE_LIMIT_MS);
  }

  /** Throws `cannotEnd` when it survives. */
  async kill(): Promise<void> {
    const { keeper, cannotEnd } = this.#options;
    if ((await this.#signal('SIGKILL')) && !(await this.#isGoneWithin(AFTER_KILL_MS)))
      throw cannotEnd(`its keeper, process ${keeper.pid}, still runs after SIGKILL`);
  }

  /** False when it is gone. */
  async #signal(name: NodeJS.Signals): Promise<boolean> {
    const { keeper, cannotEnd } = this.#options;
    if ((await processState(keeper)) === 'gone') return false;
    if (placeOf(keeper, await ownIdentity()) === 'elsewhere')
      throw cannotEnd(`its keeper, process ${keeper.pid}, runs in another container or on another machine`);
    const pid = pidOf(keeper.pid);
    if (pid === undefined || keeper.start_time === null || !(await isSameProcess(keeper)))
      throw cannotEnd(`the system does not report whether process ${keeper.pid} is its keeper`);
    const [result = 'gone'] = await signalProcesses([{ pid, startId: keeper.start_time }], [name]);
    const why = whyNotSignalled(result, keeper.pid);
    if (why !== undefined) throw cannotEnd(why);
    return result === 'sent';
  }

  async #isGoneWithin(limitMs: number): Promise<boolean> {
    const { keeper, clock } = this.#options;
    const giveUpMs = clock.monotonicMs() + limitMs;
    while ((await processState(keeper)) !== 'gone') {
      if (clock.monotonicMs() >= giveUpMs) return false;
      await sleep(clock, POLL_MS);
    }
    return true;
  }
}

function whyNotSignalled(result: SignalResult, pid: number): string | undefined {
  if (result === 'spared') return `process ${pid} is this process or one of its ancestors`;
  if (result === 'refused') return `its keeper, process ${pid}, may not be signalled`;
  return undefined;
}
