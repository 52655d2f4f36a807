import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/lifecycle.js';
import { toDisposable } from '../base/lifecycle.js';
import type { Channel } from './channel.js';
import type { ChannelMessage } from './replica.js';
import type {
  BoardAction,
  BoardState,
  DiffAction,
  DiffState,
  ScreenAction,
  ScreenState,
  TaskAction,
  TaskState,
} from './state.js';
import type { TerminalAction, TerminalState } from './protocol.js';
import type { ReplayAction, ReplayState } from './replay/replay-state.js';

/** How long a channel goes on without a subscriber: a page that lost its connection, or was loaded again, gets what it missed. */
const LINGER_MS = 20_000;

export type AnyChannel =
  | Channel<BoardState, BoardAction>
  | Channel<TaskState, TaskAction>
  | Channel<DiffState, DiffAction>
  | Channel<ScreenState, ScreenAction>
  | Channel<TerminalState, TerminalAction>
  | Channel<ReplayState, ReplayAction>;
export type AnyChannelMessage =
  | ChannelMessage<BoardState, BoardAction>
  | ChannelMessage<TaskState, TaskAction>
  | ChannelMessage<DiffState, DiffAction>
  | ChannelMessage<ScreenState, ScreenAction>
  | ChannelMessage<TerminalState, TerminalAction>
  | ChannelMessage<ReplayState, ReplayAction>;

/** A channel that is kept up to date until it is disposed. */
export interface OpenChannel extends Disposable {
  readonly channel: AnyChannel;
  /** How long it goes on without a subscriber, where that costs something; default: LINGER_MS. */
  readonly lingerMs?: number;
}

export interface HubOptions {
  readonly clock: Clock;
  /** Opens what a name means; `seq` is its first number. Throws BridgeError when there is no such thing. */
  readonly open: (name: string, seq: number) => Promise<OpenChannel>;
}

interface Held {
  readonly opened: Promise<OpenChannel>;
  count: number;
  lingerMs: number;
  linger: Disposable | undefined;
}

/** The channels that pages follow; each is open once, however many do. */
export class Hub implements Disposable {
  readonly #options: HubOptions;
  readonly #held = new Map<string, Held>();
  /** The largest number of all channels that were closed: a channel that is opened goes on behind it, so a number never means two actions. */
  #lastSeq = -1;
  #isDisposed = false;

  constructor(options: HubOptions) {
    this.#options = options;
  }

  /** Follows a channel until the result is disposed. Throws as `open` does. */
  async subscribe(
    name: string,
    send: (message: AnyChannelMessage) => void,
    since?: number,
  ): Promise<Disposable & { snapshot(): AnyChannelMessage }> {
    const held = this.#hold(name);
    held.count++;
    let subscription: Disposable;
    let channel: AnyChannel;
    try {
      const opened = await held.opened;
      channel = opened.channel;
      held.lingerMs = opened.lingerMs ?? LINGER_MS;
      subscription = channel.subscribe(send, since);
    } catch (error) {
      this.#release(name, held);
      throw error;
    }
    const release = toDisposable(() => {
      subscription.dispose();
      this.#release(name, held);
    });
    return { snapshot: () => channel.snapshot(), dispose: () => release.dispose() };
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const [name, held] of this.#held) this.#close(name, held);
  }

  #hold(name: string): Held {
    const known = this.#held.get(name);
    if (known !== undefined) {
      known.linger?.dispose();
      known.linger = undefined;
      return known;
    }
    const held: Held = {
      opened: this.#options.open(name, this.#lastSeq + 1),
      count: 0,
      lingerMs: LINGER_MS,
      linger: undefined,
    };
    this.#held.set(name, held);
    held.opened.catch(() => {
      if (this.#held.get(name) === held) this.#held.delete(name);
    });
    return held;
  }

  #release(name: string, held: Held): void {
    held.count--;
    if (held.count > 0 || this.#held.get(name) !== held) return;
    held.linger = this.#options.clock.after(held.lingerMs, () => this.#close(name, held));
    if (this.#isDisposed) this.#close(name, held);
  }

  #close(name: string, held: Held): void {
    held.linger?.dispose();
    if (this.#held.get(name) === held) this.#held.delete(name);
    held.opened.then(
      (opened) => {
        this.#lastSeq = Math.max(this.#lastSeq, opened.channel.seq);
        opened.dispose();
      },
      // Whoever subscribed got the error.
      () => undefined,
    );
  }
}
