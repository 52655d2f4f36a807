// Pure.
import type { Clock } from '../base/clock.js';
import { toDisposable, type Disposable } from '../base/lifecycle.js';
import type { ValuesMessage } from './protocol.js';
import type { Values } from './state.js';

/** A task that prints changes many times a second; a page needs no more than this. */
export const QUIET_MS = 80;

type Send = (message: ValuesMessage) => void;

/** What is followed under one name: its values by key. A follower gets all of them, and then what has changed. */
export class Channel implements Disposable {
  readonly name: string;
  readonly #clock: Clock;
  readonly #followers = new Set<Send>();
  #sent: Values = new Map();
  #values: Values = this.#sent;
  #quiet: Disposable | undefined;

  /** Changes are sent at most once in 80 ms. */
  constructor(name: string, clock: Clock) {
    this.name = name;
    this.#clock = clock;
  }

  get values(): Values {
    return this.#values;
  }

  /** What holds from now on: all keys and their values. Values are compared as JSON. */
  put(values: Values): void {
    this.#values = values;
    if (this.#quiet === undefined) this.#send();
  }

  follow(send: Send): Disposable {
    send({ type: 'values', channel: this.name, whole: true, set: Object.fromEntries(this.#values), del: [] });
    this.#followers.add(send);
    return toDisposable(() => this.#followers.delete(send));
  }

  dispose(): void {
    this.#quiet?.dispose();
    this.#followers.clear();
  }

  #send(): void {
    const { set, del } = changes(this.#sent, this.#values);
    this.#sent = this.#values;
    if (Object.keys(set).length + del.length === 0) return;
    for (const send of [...this.#followers])
      send({ type: 'values', channel: this.name, whole: false, set, del });
    this.#quiet = this.#clock.after(QUIET_MS, () => {
      this.#quiet = undefined;
      this.#send();
    });
  }
}

/** Keeps the values of a channel those of now until the result is disposed. Throws BridgeError when there is no such thing. */
export type OpenFeed = (channel: Channel) => Promise<Disposable>;

/** The channels that pages follow: each is open once, however many do, and as long as one does. */
export class Channels {
  readonly #clock: Clock;
  readonly #open: OpenFeed;
  readonly #held = new Map<string, { channel: Channel; feed: Promise<Disposable>; followers: number }>();

  constructor(clock: Clock, open: OpenFeed) {
    this.#clock = clock;
    this.#open = open;
  }

  /** Follows a channel until the result is disposed. Throws as its feed does. */
  async follow(name: string, send: Send): Promise<Disposable> {
    let held = this.#held.get(name);
    if (held === undefined) {
      const channel = new Channel(name, this.#clock);
      held = { channel, feed: this.#open(channel), followers: 0 };
      this.#held.set(name, held);
    }
    const { channel, feed } = held;
    held.followers++;
    const leave = (): void => {
      if (--held.followers > 0) return;
      if (this.#held.get(name) === held) this.#held.delete(name);
      channel.dispose();
      // The followers got the error.
      feed.then((opened) => opened.dispose()).catch(() => undefined);
    };
    try {
      await feed;
    } catch (error) {
      leave();
      throw error;
    }
    const following = channel.follow(send);
    return toDisposable(() => {
      following.dispose();
      leave();
    });
  }
}

/** What makes `now` of `before`. */
export function changes(before: Values, now: Values): Pick<ValuesMessage, 'set' | 'del'> {
  const set = [...now].filter(([key, value]) => !isSame(before.get(key), value));
  return { set: Object.fromEntries(set), del: [...before.keys()].filter((key) => !now.has(key)) };
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
