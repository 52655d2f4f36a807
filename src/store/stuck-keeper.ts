import type { Clock } from '../base/clock.js';
import type { ProcessIdentity } from './process-place.js';
import { isGoneWithin, signalProcess, whyNotSignalled } from './signal-process.js';

/** A keeper that runs again ends its task or process by signals, with some seconds for each. */
export const WAKE_LIMIT_MS = 15_000;
/** Only a process that is stuck in the kernel survives SIGKILL for longer. */
const AFTER_KILL_MS = 5_000;

export interface StuckKeeperOptions {
  readonly keeper: ProcessIdentity;
  readonly clock: Clock;
  /** Makes the error for a keeper that cannot be ended; `why` is a main clause. */
  readonly cannotEnd: (why: string) => Error;
}

/** Ends a keeper that does not answer, by signals to that very process. */
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
    const { keeper, clock } = this.#options;
    return !(await this.#signal('SIGTERM')) || isGoneWithin(keeper, clock, WAKE_LIMIT_MS);
  }

  /** Throws `cannotEnd` when it survives. */
  async kill(): Promise<void> {
    const { keeper, clock, cannotEnd } = this.#options;
    if ((await this.#signal('SIGKILL')) && !(await isGoneWithin(keeper, clock, AFTER_KILL_MS)))
      throw cannotEnd(`its keeper, process ${keeper.pid}, still runs after SIGKILL`);
  }

  async #signal(name: NodeJS.Signals): Promise<boolean> {
    const { keeper, cannotEnd } = this.#options;
    const outcome = await signalProcess(keeper, name);
    const why = whyNotSignalled(outcome, keeper);
    if (why !== undefined) throw cannotEnd(why);
    return outcome === 'sent';
  }
}
