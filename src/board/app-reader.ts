import { BridgeError } from '../base/errors.js';
import type { Clock } from '../base/clock.js';
import { DisposableStore, toDisposable, type Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import { actionErrorOf } from './action-error.js';
import type { AppAnswer, AppRead } from './app-requests.js';
import { appState } from './app-snapshot.js';
import type { AnyChannelMessage, Hub } from './hub.js';
import type { ServerMessage } from './protocol.js';

/** Of the messages of one answer: it is the answer of a tool, which holds at most 1 MB. What is over comes with the next. */
const MAX_BYTES = 700_000;
const MAX_SNAPSHOT_BYTES = 400_000;
/** Apps that wait at once; more than a person has open. */
const MAX_READERS = 32;
/** No channel has such a number, so it is answered with a gap and a snapshot. */
const UNKNOWN_SEQ = Number.MAX_SAFE_INTEGER;

export interface AppReaderOptions {
  readonly hub: Hub;
  readonly boardId: string;
  readonly version: string;
  readonly homeDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

type Message = Exclude<ServerMessage, { readonly type: 'welcome' | 'result' }>;

/** Reads channels for apps that cannot hold a connection: each read waits until there is something, and says where to go on. */
export class AppReader {
  readonly #options: AppReaderOptions;
  #count = 0;

  constructor(options: AppReaderOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#count;
  }

  /** The next messages of the channels; none when nothing happened in time, or the reader has gone. */
  async read(query: AppRead, signal: AbortSignal): Promise<AppAnswer> {
    if (this.#count >= MAX_READERS) {
      throw new BridgeError('STATE_UNUSABLE', `${MAX_READERS} apps read the board already.`, 'Close some.');
    }
    this.#count++;
    const reading = new Reading(query, signal, this.#options);
    try {
      const { boardId: board_id, version, homeDir: home } = this.#options;
      return { board_id, version, home, messages: await reading.messages() };
    } finally {
      this.#count--;
      reading.dispose();
    }
  }
}

/** One read: it follows its channels only as long as it waits. */
class Reading implements Disposable {
  readonly #query: AppRead;
  readonly #signal: AbortSignal;
  readonly #options: AppReaderOptions;
  readonly #owned = new DisposableStore();
  readonly #only: ReadonlySet<string> | undefined;
  readonly #snapshots = new Map<string, () => AnyChannelMessage>();
  readonly #got: Message[] = [];
  #wake: () => void = () => undefined;

  constructor(query: AppRead, signal: AbortSignal, options: AppReaderOptions) {
    this.#query = query;
    this.#signal = signal;
    this.#options = options;
    this.#only = query.tasks === undefined ? undefined : new Set(query.tasks);
  }

  async messages(): Promise<Message[]> {
    const isSame = this.#query.board_id === this.#options.boardId;
    for (const { channel, since } of this.#query.channels)
      await this.#follow(channel, since === undefined || isSame ? since : UNKNOWN_SEQ);
    if (this.#got.length === 0) await this.#first();
    return this.#fitting();
  }

  dispose(): void {
    this.#owned.dispose();
  }

  async #follow(channel: string, since: number | undefined): Promise<void> {
    const { hub, logger } = this.#options;
    const push = (message: Message): void => {
      this.#got.push(message);
      this.#wake();
    };
    try {
      const following = await hub.subscribe(channel, push, since);
      this.#owned.add(following);
      this.#snapshots.set(channel, () => following.snapshot());
    } catch (error) {
      push({ type: 'refused', channel, error: actionErrorOf(error, logger) });
    }
  }

  /** Until there is a message, the time is over, or the reader has gone. */
  async #first(): Promise<void> {
    if (this.#signal.aborted || this.#query.wait_ms === 0) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#owned.add(this.#options.clock.after(this.#query.wait_ms, resolve));
      const leave = (): void => resolve();
      this.#signal.addEventListener('abort', leave);
      this.#owned.add(toDisposable(() => this.#signal.removeEventListener('abort', leave)));
    });
  }

  /** As many as one answer holds, in their order. */
  #fitting(): Message[] {
    const fitting: Message[] = [];
    let bytes = 0;
    for (const got of this.#got) {
      for (const message of this.#small(got)) {
        bytes += bytesOf(message);
        if (bytes > MAX_BYTES) return fitting;
        fitting.push(message);
      }
    }
    return fitting;
  }

  /** What the app gets for a message: a snapshot as it fits, and one in the place of an action that is too large. */
  #small(message: Message): Message[] {
    if (message.type === 'snapshot') return [this.#smallSnapshot(message)];
    if (message.type !== 'action' || bytesOf(message) <= MAX_SNAPSHOT_BYTES) return [message];
    const { channel } = message;
    const now = this.#snapshots.get(channel)?.();
    if (now?.type !== 'snapshot') return [message];
    return [{ type: 'gap', channel }, this.#smallSnapshot(now)];
  }

  #smallSnapshot<M extends Extract<Message, { readonly type: 'snapshot' }>>(message: M): Message {
    const small = { ...message, state: appState(message.state, MAX_SNAPSHOT_BYTES, this.#only) };
    if (bytesOf(small) <= MAX_BYTES) return small;
    const error = {
      code: 'MESSAGE_TOO_LARGE',
      message: 'This is too large to be shown here.',
      hint: 'Open the board in a browser.',
    };
    return { type: 'refused', channel: message.channel, error };
  }
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
