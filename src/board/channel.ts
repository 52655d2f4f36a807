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
  readonly #clock: Clock | undefined;
  readonly #followers = new Set<Send>();
  #values: Values = new Map();
  /** Not sent yet. */
  #next: Values | undefined;
  #quiet: Disposable | undefined;

  /** Changes are sent at most once in 80 ms; without a clock at once. */
  constructor(name: string, clock?: Clock) {
    this.name = name;
    this.#clock = clock;
  }

  get values(): Values {
    return this.#next ?? this.#values;
  }

  /** What holds from now on: all keys and their values. Values are compared as JSON. */
  put(values: Values): void {
    this.#next = values;
    if (this.#quiet === undefined) this.#send();
  }

  follow(send: Send): Disposable {
    send({ type: 'values', channel: this.name, whole: true, set: Object.fromEntries(this.values), del: [] });
    this.#followers.add(send);
    return toDisposable(() => this.#followers.delete(send));
  }

  dispose(): void {
    this.#quiet?.dispose();
    this.#followers.clear();
  }

  #send(): void {
    const next = this.#next;
    this.#next = undefined;
    if (next === undefined) return;
    const { set, del } = changes(this.#values, next);
    this.#values = next;
    if (Object.keys(set).length + del.length === 0) return;
    for (const send of [...this.#followers])
      send({ type: 'values', channel: this.name, whole: false, set, del });
    this.#quiet = this.#clock?.after(QUIET_MS, () => {
      this.#quiet = undefined;
      this.#send();
    });
  }
}

/** A channel whose values are those of now until it is disposed. */
export interface OpenChannel extends Disposable {
  readonly channel: Channel;
}

interface Held {
  readonly opened: Promise<OpenChannel>;
  followers: number;
}

/** The channels that pages follow: each is open once, however many do, and as long as one does. */
export class Channels {
  readonly #open: (name: string) => Promise<OpenChannel>;
  readonly #held = new Map<string, Held>();

  /** `open` throws BridgeError when there is no such thing. */
  constructor(open: (name: string) => Promise<OpenChannel>) {
    this.#open = open;
  }

  /** Follows a channel until the result is disposed. Throws as `open` does. */
  async follow(name: string, send: (message: ValuesMessage) => void): Promise<Disposable> {
    const held = this.#held.get(name) ?? { opened: this.#open(name), followers: 0 };
    this.#held.set(name, held);
    held.followers++;
    try {
      const following = (await held.opened).channel.follow(send);
      return toDisposable(() => {
        following.dispose();
        this.#leave(name, held);
      });
    } catch (error) {
      this.#leave(name, held);
      throw error;
    }
  }

  #leave(name: string, held: Held): void {
    held.followers--;
    if (held.followers > 0) return;
    if (this.#held.get(name) === held) this.#held.delete(name);
    // The followers got the error.
    held.opened.then((opened) => opened.dispose()).catch(() => undefined);
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
