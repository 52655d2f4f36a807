import type { Clock } from '../base/clock.js';
import type { ProcessIdentity } from './process-identity.js';
import { isGoneWithin, signalProcess, whyNotSignalled } from './signal-process.js';

/** A keeper that runs again ends what it keeps by signals, each of which has some seconds. */
export const WAKE_LIMIT_MS = 15_000;
/** After SIGKILL only a process stays that the kernel holds. */
const AFTER_KILL_MS = 5_000;

export interface StuckKeeperOptions {
  readonly keeper: ProcessIdentity;
  readonly clock: Clock;
  /** The error for a keeper that cannot be ended; `why` is a main clause. */
  readonly cannotEnd: (why: string) => Error;
}

/** A keeper that does not answer, and is ended by signals to that very process. */
export class StuckKeeper {
  readonly #options: StuckKeeperOptions;

  constructor(options: StuckKeeperOptions) {
    this.#options = options;
  }

  /** Lets a halted keeper go on. False when it is gone. Throws `cannotEnd` when it may not be signalled. */
  wake(): Promise<boolean> {
    return this.#signal('SIGCONT');
  }

  /** Has the keeper end what it keeps and leave. False when it is still there after 15 seconds. */
  async leaves(): Promise<boolean> {
    const { keeper, clock } = this.#options;
    return !(await this.#signal('SIGTERM')) || isGoneWithin(keeper, clock, WAKE_LIMIT_MS);
  }

  /** Throws `cannotEnd` when it is still there. */
  async kill(): Promise<void> {
    const { keeper, clock, cannotEnd } = this.#options;
    if ((await this.#signal('SIGKILL')) && !(await isGoneWithin(keeper, clock, AFTER_KILL_MS)))
      throw cannotEnd(`its keeper, process ${keeper.pid}, is still there after SIGKILL`);
  }

  async #signal(name: NodeJS.Signals): Promise<boolean> {
    const { keeper, cannotEnd } = this.#options;
    const outcome = await signalProcess(keeper, name);
    const why = whyNotSignalled(outcome, keeper);
    if (why !== undefined) throw cannotEnd(why);
    return outcome === 'sent';
  }
}
