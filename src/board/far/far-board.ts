import type { Clock } from '../../base/clock.js';
import { nextWords } from '../../base/errors.js';
import { DisposableStore, Emitter, nextEvent, toDisposable, type Disposable } from '../../base/lifecycle.js';
import type { Machine } from '../../machines/machine.js';
import { unreachable } from '../../machines/unreachable.js';
import { BoardClient, lostConnection, noAnswer, type Follower } from '../client.js';
import type { ClientAction, Outcome } from '../protocol.js';
import type { MachineView, Values } from '../state.js';
import { farLink } from './far-link.js';

interface Connection {
  readonly client: BoardClient;
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
  /** In milliseconds since the epoch: when it was found to be out of reach, and when it last said something. */
  #lostMs: number | undefined;
  #heardMs: number | undefined;
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
      return await actOver(client, this.#machine, action);
    } finally {
      release.dispose();
    }
  }

  #use(): { readonly client: BoardClient; readonly release: Disposable } {
    this.#users++;
    const { client } = (this.#open ??= this.#connect());
    const release = toDisposable(() => {
      if (--this.#users > 0) return;
      this.#open?.owned.dispose();
      this.#open = undefined;
      this.#overview = new Map();
      this.#lostMs = this.#heardMs = undefined;
    });
    return { client, release };
  }

  #connect(): Connection {
    const owned = new DisposableStore();
    const client = owned.add(new BoardClient(farLink(this.#machine, this.#clock), this.#clock));
    client.onWelcome(({ home }) => (this.#home = home));
    client.onState((state) => {
      if (state.how === 'open') this.#lostMs = undefined;
      else if (state.how !== 'connecting') this.#lostMs ??= this.#clock.now();
      if ('why' in state) this.#why = state.why;
      this.#changes.fire();
    });
    owned.add(
      this.#machine.onState((state) => {
        // Sooner than the next try.
        if (state.how === 'live' && client.state.how === 'lost') client.connect();
        this.#changes.fire();
      }),
    );
    client.connect();
    return { client, owned };
  }

  #view(): MachineView {
    const { state } = this.#machine;
    if (state.how === 'live') this.#hostname = state.far.hostname;
    const known = { home: this.#home, hostname: this.#hostname };
    const isOpen = this.#open?.client.state.how === 'open';
    if (state.how !== 'unverifiable' && isOpen) {
      this.#heardMs = this.#clock.now();
      return { state: 'live', since: null, as_of: null, why: '', ...known };
    }
    const sinceMs = state.how === 'unverifiable' ? state.sinceMs : this.#lostMs;
    const as_of = isoOf(this.#heardMs);
    if (sinceMs === undefined) return { state: 'opening', since: null, as_of, why: '', ...known };
    const why = state.how === 'unverifiable' ? state.why : this.#why;
    return { state: 'unverifiable', since: isoOf(sinceMs), as_of, why, ...known };
  }
}

function isoOf(ms: number): string;
function isoOf(ms: number | undefined): string | null;
function isoOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

/** Does something over there, once it is connected; what has no answer says whether it was sent. Never rejects. */
export async function actOver(
  client: BoardClient,
  machine: Machine,
  action: ClientAction,
): Promise<Outcome> {
  if (client.state.how === 'connecting') await nextEvent(client.onState);
  const wasOpen = client.state.how === 'open';
  const outcome = await client.act(action);
  if (outcome.ok || (outcome.error !== lostConnection && outcome.error !== noAnswer)) return outcome;
  const { name, state } = machine;
  const why = state.how === 'unverifiable' ? state.why : 'its board does not answer';
  const sent = wasOpen ? 'unknown' : 'not_sent';
  const { code, message, next } = unreachable(name, sent, `The line to ${name} is cut`, why);
  return { ok: false, error: { code, message, hint: nextWords(next) } };
}
