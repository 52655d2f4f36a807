// Pure: follows tasks of one machine while somebody here does.
import { sleep, type Clock } from '../base/clock.js';
import { TASK_ID_PATTERN } from '../base/ids.js';
import { DisposableStore, toDisposable, type Disposable } from '../base/lifecycle.js';
import { leftWith } from '../base/refresher.js';
import type { Machine } from './machine.js';

/** What `watch` is given for all tasks. */
export const ACTIVE = 'active';
/** Where the line is open and the far side opens no channel. */
const AGAIN_MS = 3_000;
/** Of different tasks over one channel: far more than a machine has work for. */
const MAX_IDS = 2_000;

export interface MachineWatchOptions {
  readonly machine: Machine;
  readonly clock: Clock;
  /** The id of a task there that can be read otherwise than before. */
  readonly changed: (id: string) => void;
  /** All of them are followed from now on: what happened before is to be read. */
  readonly reached: () => void;
}

interface Followed {
  readonly owned: DisposableStore;
  count: number;
}

/** The tasks of one machine that somebody here follows, by their ids there: the machine says which have changed. Nothing is open while nobody does. */
export class MachineWatch implements Disposable {
  readonly #options: MachineWatchOptions;
  readonly #followed = new Map<string, Followed>();

  constructor(options: MachineWatchOptions) {
    this.#options = options;
  }

  /** Follows a task, or all that are `active`, until disposed. */
  watch(id: string): Disposable {
    const followed = this.#followed.get(id) ?? this.#follow(id);
    followed.count += 1;
    return toDisposable(() => {
      followed.count -= 1;
      if (followed.count > 0 || this.#followed.get(id) !== followed) return;
      this.#followed.delete(id);
      followed.owned.dispose();
    });
  }

  dispose(): void {
    for (const { owned } of this.#followed.values()) owned.dispose();
    this.#followed.clear();
  }

  #follow(id: string): Followed {
    const owned = new DisposableStore();
    const followed = { owned, count: 0 };
    this.#followed.set(id, followed);
    void this.#run(id, leftWith(owned));
    return followed;
  }

  /** A machine that was never reached is not tried again and again: its command may ask a person, or count attempts. */
  async #run(id: string, left: AbortSignal): Promise<void> {
    const { machine, clock, changed, reached } = this.#options;
    while (!left.aborted) {
      // Who reads the task gets the reason.
      await this.#hear(id, left).catch(() => undefined);
      if (left.aborted) return;
      if (id !== ACTIVE) changed(id);
      else if (machine.state.how === 'live') reached();
      if (machine.state.how === 'live') await sleep(clock, AGAIN_MS, left);
      else await live(machine, left);
    }
  }

  /** Until the channel is closed. */
  async #hear(id: string, left: AbortSignal): Promise<void> {
    const { machine, changed, reached } = this.#options;
    const channel = await machine.openChannel({ kind: 'changes', ...(id !== ACTIVE && { task_id: id }) });
    const ids = new Set<string>();
    const closed = new Promise<void>((resolve) => channel.onClose(() => resolve()));
    channel.onData((data) => {
      channel.taken(data.length);
      const told = Buffer.from(data).toString();
      ids.add(told);
      if (!TASK_ID_PATTERN.test(told) || ids.size > MAX_IDS) channel.dispose();
      else if (id === ACTIVE || id === told) changed(told);
    });
    left.addEventListener('abort', () => channel.dispose(), { once: true });
    if (left.aborted) channel.dispose();
    else if (id === ACTIVE) reached();
    else changed(id);
    await closed;
  }
}

function live(machine: Machine, left: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const states = machine.onState(({ how }) => {
      if (how === 'live') end();
    });
    const end = (): void => {
      states.dispose();
      left.removeEventListener('abort', end);
      resolve();
    };
    left.addEventListener('abort', end, { once: true });
  });
}
