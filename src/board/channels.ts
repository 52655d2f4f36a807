import { toDisposable, type Disposable } from '../base/lifecycle.js';
import type { Channel } from './channel.js';
import type { ValuesMessage } from './protocol.js';

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
