// Pure.
import { toDisposable, type Disposable } from '../base/lifecycle.js';
import type { ValuesMessage } from './protocol.js';
import type { Values } from './state.js';

type Send = (message: ValuesMessage) => void;

/** Takes what holds from now on: all keys of a channel and their values, which are compared as JSON. */
export type Put = (values: Values) => void;

/** Puts the values of a channel whenever they change, until the result is disposed. Throws BridgeError when there is no such thing. */
export type OpenFeed = (name: string, put: Put) => Promise<Disposable>;

/** What is followed under one name. */
interface Held {
  readonly followers: Set<Send>;
  readonly feed: Promise<Disposable>;
  /** Also those that wait for the feed. */
  count: number;
  values: Values;
}

/** What pages follow, by name: a follower gets all values, and then what has changed. Each feed is open once, as long as it is followed. */
export class Channels {
  readonly #open: OpenFeed;
  readonly #held = new Map<string, Held>();

  constructor(open: OpenFeed) {
    this.#open = open;
  }

  /** Follows a channel until the result is disposed. Throws as its feed does. */
  async follow(name: string, send: Send): Promise<Disposable> {
    const held = this.#held.get(name) ?? this.#hold(name);
    held.count++;
    const following = toDisposable(() => {
      held.followers.delete(send);
      if (--held.count > 0) return;
      if (this.#held.get(name) === held) this.#held.delete(name);
      // The followers got the error.
      held.feed.then((feed) => feed.dispose()).catch(() => undefined);
    });
    try {
      await held.feed;
    } catch (error) {
      following.dispose();
      throw error;
    }
    send({ type: 'values', channel: name, whole: true, set: Object.fromEntries(held.values), del: [] });
    held.followers.add(send);
    return following;
  }

  #hold(name: string): Held {
    const followers = new Set<Send>();
    const put = (values: Values): void => {
      const { set, del } = changes(held.values, values);
      held.values = values;
      if (Object.keys(set).length + del.length === 0) return;
      for (const send of [...followers]) send({ type: 'values', channel: name, whole: false, set, del });
    };
    // One may put at once what it knows already.
    const feed = Promise.resolve().then(() => this.#open(name, put));
    const held: Held = { followers, feed, count: 0, values: new Map() };
    this.#held.set(name, held);
    return held;
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
