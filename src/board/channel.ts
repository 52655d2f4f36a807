// Pure.
import { toDisposable, type Disposable } from '../base/lifecycle.js';
import type { ChannelMessage } from './replica.js';

/** So many actions can be sent again to a client that lost its connection. */
const RING = 4_096;

type Send<S, A> = (message: ChannelMessage<S, A>) => void;
type ActionMessage<S, A> = Extract<ChannelMessage<S, A>, { readonly type: 'action' }>;

/** One thing that pages follow: its state, and the numbered actions that led to it. */
export class Channel<S, A> {
  readonly name: string;
  readonly #reduce: (state: S, action: A) => S;
  readonly #subscribers = new Set<Send<S, A>>();
  readonly #ring: ActionMessage<S, A>[] = [];
  #state: S;
  #seq: number;

  /** `seq` is the number of the last action before this channel was opened. */
  constructor(name: string, initial: S, reduce: (state: S, action: A) => S, seq = 0) {
    this.name = name;
    this.#state = initial;
    this.#reduce = reduce;
    this.#seq = seq;
  }

  get state(): S {
    return this.#state;
  }

  get seq(): number {
    return this.#seq;
  }

  dispatch(action: A, by?: string): void {
    this.#state = this.#reduce(this.#state, action);
    this.#seq++;
    const message = {
      type: 'action' as const,
      channel: this.name,
      seq: this.#seq,
      action,
      ...(by !== undefined && { by }),
    };
    this.#ring.push(message);
    if (this.#ring.length > RING) this.#ring.shift();
    for (const send of [...this.#subscribers]) send(message);
  }

  /** Sends what a client needs to be up to date, and each later action. With `since` only what came after it, if that is known. */
  subscribe(send: Send<S, A>, since?: number): Disposable {
    const missed = since === undefined ? undefined : this.#after(since);
    if (missed === undefined) {
      if (since !== undefined) send({ type: 'gap', channel: this.name });
      send(this.snapshot());
    } else for (const message of missed) send(message);
    this.#subscribers.add(send);
    return toDisposable(() => this.#subscribers.delete(send));
  }

  snapshot(): Extract<ChannelMessage<S, A>, { type: 'snapshot' }> {
    return { type: 'snapshot', channel: this.name, seq: this.#seq, state: this.#state };
  }

  /** Undefined when the ring no longer has all of them. */
  #after(since: number): ActionMessage<S, A>[] | undefined {
    if (since > this.#seq) return undefined;
    const missing = this.#seq - since;
    return missing > this.#ring.length ? undefined : this.#ring.slice(this.#ring.length - missing);
  }
}
