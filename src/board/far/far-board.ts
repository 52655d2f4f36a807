import type { Clock } from '../../base/clock.js';
import { DisposableStore, Emitter, toDisposable, type Disposable } from '../../base/lifecycle.js';
import type { Machine } from '../../machines/machine.js';
import type { Follower } from '../client.js';
import type { ClientAction, Outcome } from '../protocol.js';
import type { MachineView, Values } from '../state.js';
import { FarClient } from './far-client.js';

interface Connection {
  readonly client: FarClient;
  readonly owned: DisposableStore;
}

/** The board of one machine, as its client: open while something of it is followed. What it said last stays while the line is cut. */
export class FarBoard {
  readonly name: string;
  readonly #machine: Machine;
  readonly #clock: Clock;
  readonly #changes = new Emitter<void>();
  #open: Connection | undefined;
  #users = 0;
  #overview: Values = new Map();
  /** When it was found to be out of reach, in milliseconds since the epoch. */
  #lostMs: number | undefined;
  #hasSpoken = false;
  #home = '';
  #hostname = '';
  #why = '';

  constructor(machine: Machine, clock: Clock) {
    this.name = machine.name;
    this.#machine = machine;
    this.#clock = clock;
  }

  /** What stands of it in `board:/`: its own overview, and how the machine is. */
  get shown(): Values {
    return new Map<string, unknown>([...this.#overview, [`machine/${this.name}`, this.#view()]]);
  }

  /** Calls back when `shown` has changed, until the result is disposed. */
  followOverview(changed: () => void): Disposable {
    const owned = new DisposableStore();
    owned.add(this.#changes.event(changed));
    const take = (values: Values): void => {
      this.#overview = values;
      this.#changes.fire();
    };
    owned.add(this.follow('board:/', { changed: take }));
    return owned;
  }

  /** Follows a channel, as it is called over there. */
  follow(channel: string, follower: Follower): Disposable {
    const { client, release } = this.#use();
    const following = client.follow(channel, follower);
    return toDisposable(() => {
      following.dispose();
      release.dispose();
    });
  }

  /** `action`: with ids as they are over there. Never rejects. */
  async act(action: ClientAction): Promise<Outcome> {
    const { client, release } = this.#use();
    try {
      return await client.actThere(action);
    } finally {
      release.dispose();
    }
  }

  #use(): { readonly client: FarClient; readonly release: Disposable } {
    this.#users++;
    const { client } = (this.#open ??= this.#connect());
    // It was not reached before.
    if (client.state.how === 'refused') client.connect();
    const release = toDisposable(() => {
      if (--this.#users > 0) return;
      this.#open?.owned.dispose();
      this.#open = undefined;
      this.#overview = new Map();
      this.#lostMs = undefined;
      this.#hasSpoken = false;
    });
    return { client, release };
  }

  #connect(): Connection {
    const owned = new DisposableStore();
    const client = owned.add(new FarClient(this.#machine, this.#clock));
    client.onWelcome(({ home }) => {
      this.#home = home;
      this.#hasSpoken = true;
    });
    client.onState((state) => {
      if (state.how === 'open') this.#lostMs = undefined;
      else if (state.how !== 'connecting') this.#lostMs ??= this.#clock.now();
      if ('why' in state) this.#why = state.why;
      this.#changes.fire();
    });
    owned.add(this.#machine.onState(() => this.#changes.fire()));
    client.connect();
    return { client, owned };
  }

  #view(): MachineView {
    const { state } = this.#machine;
    if (state.how === 'live') this.#hostname = state.far.hostname;
    const known = { home: this.#home, hostname: this.#hostname };
    const isOpen = this.#open?.client.state.how === 'open';
    const sinceMs = state.how === 'unverifiable' ? state.sinceMs : this.#lostMs;
    if ((state.how !== 'unverifiable' && isOpen) || sinceMs === undefined)
      return { state: isOpen ? 'live' : 'opening', since: null, as_of: null, why: '', ...known };
    const since = new Date(sinceMs).toISOString();
    const why = state.how === 'unverifiable' ? state.why : this.#why;
    return { state: 'unverifiable', since, as_of: this.#hasSpoken ? since : null, why, ...known };
  }
}
