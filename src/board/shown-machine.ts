// Pure: how the overview shows another machine.
import type { Clock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import type { FarTasks } from '../machines/far-tasks.js';
import type { MachineView } from './state.js';

type Listed = Awaited<ReturnType<FarTasks['all']>>;

/** The line to one machine, and whether its tasks were read. */
export class ShownMachine {
  readonly #far: FarTasks;
  readonly #clock: Clock;
  #hostname = '';
  #home = '';
  #isRead = false;
  /** The line is open, and what it said is no list of tasks. */
  #failure: { readonly sinceMs: number; readonly why: string } | undefined;

  constructor(far: FarTasks, clock: Clock) {
    this.#far = far;
    this.#clock = clock;
  }

  /** Its newest tasks; undefined while it does not say. */
  async list(limit: number): Promise<Listed | undefined> {
    try {
      const listed = await this.#far.all(limit);
      this.#isRead = true;
      this.#failure = undefined;
      return listed;
    } catch (error) {
      this.#failure = { sinceMs: this.#clock.now(), why: messageOf(error) };
      return undefined;
    }
  }

  get view(): MachineView {
    const { state } = this.#far.machine;
    if (state.how === 'live') [this.#hostname, this.#home] = [state.far.hostname, state.far.home];
    const known = { home: this.#home, hostname: this.#hostname };
    const cut = state.how === 'unverifiable' ? state : this.#failure;
    if (cut === undefined)
      return {
        state: state.how === 'live' ? 'live' : 'opening',
        ...{ since: null, as_of: null, why: '', ...known },
      };
    const since = new Date(cut.sinceMs).toISOString();
    return { state: 'unverifiable', since, as_of: this.#isRead ? since : null, why: cut.why, ...known };
  }
}
