// Pure: what a page, a chat and an editor know of the board, kept up to date over a connection that is opened again when it is lost.
import type { Clock } from '../base/clock.js';
import { Emitter, toDisposable, type Disposable } from '../base/lifecycle.js';
import type {
  ActionError,
  ClientAction,
  ClientMessage,
  Outcome,
  ServerMessage,
  ValuesMessage,
} from './protocol.js';
import type { Values } from './state.js';

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
/** How often a board is looked for where none runs. */
const LOOK_MS = 5_000;
/** An answer that comes later than this is said not to have come. */
const ANSWER_LIMIT_MS = 40_000;
/** The board takes messages of 1 MB; a character may take three bytes. */
const MAX_ACTION_CHARS = 300_000;

export type ConnectionState =
  | { readonly how: 'connecting' }
  | { readonly how: 'open' }
  /** No board runs; it is looked for again. */
  | { readonly how: 'off' }
  /** It is tried again at this time, in milliseconds since the epoch. */
  | { readonly how: 'lost'; readonly retryAtMs: number; readonly why: string }
  /** It is not tried again before a person asks for it. */
  | { readonly how: 'refused'; readonly why: string };

/** An open connection to the board. */
export interface Link {
  send(message: ClientMessage): void;
  close(): void;
}

/** What a connection reports. */
export interface LinkEvents {
  message(message: ServerMessage): void;
  frame(frame: Uint8Array): void;
  closed(why: string): void;
}

/** Opens a connection, whose first message is the board's welcome; undefined where no board runs. Throws LinkRefused, or what is tried again. */
export type OpenLink = (events: LinkEvents) => Promise<Link | undefined>;

/** To try again would be to be refused again. */
export class LinkRefused extends Error {}

/** What the follower of a channel gets. */
export interface Follower {
  changed(values: Values): void;
  /** The channel cannot be opened. */
  refused?(error: ActionError): void;
}

interface Followed {
  readonly followers: Set<Follower>;
  /** Undefined before the board has sent them. Those of a lost connection stay until then: what is typed beside them stays, too. */
  values?: Values;
  /** Why there are none. */
  error?: ActionError | undefined;
}

export class BoardClient implements Disposable {
  readonly #open: OpenLink;
  readonly #clock: Pick<Clock, 'now' | 'after'>;
  readonly #changes = new Emitter<ConnectionState>();
  readonly #welcomes = new Emitter<Extract<ServerMessage, { type: 'welcome' }>>();
  readonly #frames = new Emitter<Uint8Array>();
  readonly #followed = new Map<string, Followed>();
  readonly #waiting = new Map<number, (outcome: Outcome) => void>();
  #state: ConnectionState = { how: 'connecting' };
  #link: Link | undefined;
  /** Counts the tries: what an earlier one reports is over. */
  #tries = 0;
  #retryMs = FIRST_RETRY_MS;
  #retry: Disposable | undefined;
  #ids = 0;
  readonly onState = this.#changes.event;
  readonly onWelcome = this.#welcomes.event;
  /** Of all terminals that are followed: see frame.ts. */
  readonly onFrame = this.#frames.event;

  constructor(open: OpenLink, clock: Pick<Clock, 'now' | 'after'>) {
    this.#open = open;
    this.#clock = clock;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Connects now, also where a connection is open or being opened. */
  connect(): void {
    this.#retryMs = FIRST_RETRY_MS;
    if (this.#state.how === 'open') this.#become({ how: 'connecting' });
    void this.#connect();
  }

  /** Follows a channel until the result is disposed. */
  follow(channel: string, follower: Follower): Disposable {
    const known = this.#followed.get(channel);
    const followed: Followed = known ?? { followers: new Set() };
    followed.followers.add(follower);
    this.#followed.set(channel, followed);
    if (known === undefined) this.#send({ type: 'subscribe', channel });
    else if (followed.error !== undefined) follower.refused?.(followed.error);
    else if (followed.values !== undefined) follower.changed(followed.values);
    return toDisposable(() => {
      followed.followers.delete(follower);
      if (followed.followers.size > 0) return;
      this.#followed.delete(channel);
      this.#send({ type: 'unsubscribe', channel });
    });
  }

  /** So many bytes of a terminal were shown since it was followed. */
  acknowledge(channel: string, bytes: number): void {
    this.#send({ type: 'term.ack', channel, bytes });
  }

  /** Asks the board to do something; resolves with what became of it, and never rejects. */
  act(action: ClientAction): Promise<Outcome> {
    if (this.#state.how !== 'open') return Promise.resolve({ ok: false, error: lostConnection });
    if (JSON.stringify(action).length > MAX_ACTION_CHARS)
      return Promise.resolve({ ok: false, error: tooLong });
    const id = ++this.#ids;
    return new Promise((resolve) => {
      const limit = this.#clock.after(ANSWER_LIMIT_MS, () => finish({ ok: false, error: noAnswer }));
      const finish = (outcome: Outcome): void => {
        limit.dispose();
        this.#waiting.delete(id);
        resolve(outcome);
      };
      this.#waiting.set(id, finish);
      this.#send({ type: 'dispatch', id, action });
    });
  }

  dispose(): void {
    this.#leave();
    this.#changes.dispose();
  }

  async #connect(): Promise<void> {
    this.#leave();
    const number = this.#tries;
    const isOver = (): boolean => number !== this.#tries;
    try {
      const link = await this.#open({
        message: (message) => !isOver() && this.#received(message),
        frame: (frame) => !isOver() && this.#frames.fire(frame),
        closed: (why) => !isOver() && this.#lost(why),
      });
      if (isOver()) return link?.close();
      this.#link = link;
      if (link === undefined) this.#again({ how: 'off' }, LOOK_MS);
    } catch (error) {
      if (isOver()) return;
      const why = error instanceof Error ? error.message : String(error);
      if (error instanceof LinkRefused) this.#become({ how: 'refused', why });
      else this.#lost(why);
    }
  }

  /** What was connected, or was being connected, is so no longer. */
  #leave(): void {
    this.#tries++;
    this.#retry?.dispose();
    this.#link?.close();
    this.#link = undefined;
    for (const finish of [...this.#waiting.values()]) finish({ ok: false, error: lostConnection });
  }

  #lost(why: string): void {
    this.#leave();
    this.#again({ how: 'lost', retryAtMs: this.#clock.now() + this.#retryMs, why }, this.#retryMs);
    this.#retryMs = Math.min(MAX_RETRY_MS, this.#retryMs * 2);
  }

  #again(state: ConnectionState, afterMs: number): void {
    this.#retry = this.#clock.after(afterMs, () => void this.#connect());
    this.#become(state);
  }

  #become(state: ConnectionState): void {
    this.#state = state;
    this.#changes.fire(state);
  }

  #received(message: ServerMessage): void {
    if (message.type === 'welcome') {
      this.#retryMs = FIRST_RETRY_MS;
      this.#welcomes.fire(message);
      this.#become({ how: 'open' });
      for (const channel of this.#followed.keys()) this.#send({ type: 'subscribe', channel });
    } else if (message.type === 'result') {
      const { type: _type, id, ...outcome } = message;
      this.#waiting.get(id)?.(outcome);
    } else this.#take(message);
  }

  #take(message: Extract<ServerMessage, { type: 'values' | 'refused' }>): void {
    const followed = this.#followed.get(message.channel ?? '');
    if (followed === undefined) return;
    if (message.type === 'refused') {
      followed.error = message.error;
      for (const follower of [...followed.followers]) follower.refused?.(message.error);
      return;
    }
    const values = valuesAfter(followed.values, message);
    followed.values = values;
    followed.error = undefined;
    for (const follower of [...followed.followers]) follower.changed(values);
  }

  #send(message: ClientMessage): void {
    if (this.#state.how === 'open') this.#link?.send(message);
  }
}

/** The board and what it speaks with are of one build: the kind of a message is all there is to check. */
export function isServerMessage(value: unknown): value is ServerMessage {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** What a follower has after a message. */
export function valuesAfter(before: Values | undefined, { whole, set, del }: ValuesMessage): Values {
  const values = new Map<string, unknown>(whole ? [] : before);
  for (const [key, value] of Object.entries(set)) values.set(key, value);
  for (const key of del) values.delete(key);
  return values;
}

function actionError(code: string, message: string, hint: string): ActionError {
  return { code, message, hint };
}
const lostConnection = actionError(
  'TASK_UNREACHABLE',
  'The board is not connected.',
  'It is connected again; then try once more.',
);
const tooLong = actionError(
  'INVALID_ARGUMENTS',
  'This is too long for one message.',
  'Write it into a file of the project and name the file.',
);
const noAnswer = actionError(
  'TASK_UNREACHABLE',
  'The board did not answer.',
  'Look at the task to see what became of it.',
);
