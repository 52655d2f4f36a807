import { hostname } from 'node:os';
import type { Clock } from '../../base/clock.js';
import { messageOf, nextWords } from '../../base/errors.js';
import { nextEvent, type Disposable } from '../../base/lifecycle.js';
import type { Machine } from '../../machines/machine.js';
import { unanswered, unreachable } from '../../machines/unreachable.js';
import { BoardClient, LinkRefused, lostConnection, noAnswer, type OpenLink } from '../client.js';
import { BOARD_PROTOCOL, type ClientAction, type ClientMessage, type Outcome } from '../protocol.js';
import { ForeignFault, ForeignMessages } from './foreign-messages.js';

/** After the channel is open. */
const WELCOME_LIMIT_MS = 10_000;
const MAX_CLIENT_CHARS = 30;

/** A client of the board of another machine, which is connected again as soon as the line is back. */
export class FarClient extends BoardClient {
  readonly #machine: Machine;
  readonly #line: Disposable;

  constructor(machine: Machine, clock: Pick<Clock, 'now' | 'after'>) {
    const open = farLink(machine, clock);
    let isOpening = false;
    super(async (events) => {
      isOpening = true;
      return open(events).finally(() => (isOpening = false));
    }, clock);
    this.#machine = machine;
    this.#line = machine.onState(({ how }) => {
      const isAway = this.state.how === 'lost' || this.state.how === 'refused';
      if (how === 'live' && isAway && !isOpening) this.connect();
    });
  }

  /** Does something over there, once it is connected. Without an answer it says whether it was sent. Never rejects. */
  async actThere(action: ClientAction): Promise<Outcome> {
    if (this.state.how === 'connecting') await nextEvent(this.onState);
    const sent = this.state.how === 'open' ? 'unknown' : 'not_sent';
    const outcome = await this.act(action);
    if (outcome.ok || (outcome.error !== lostConnection && outcome.error !== noAnswer)) return outcome;
    const { name, state } = this.#machine;
    const { code, message, next } =
      state.how === 'unverifiable'
        ? unreachable(name, sent, state.why, state.sinceMs)
        : unanswered(name, sent, 'has no board that answers');
    return { ok: false, error: { code, message, hint: nextWords(next) } };
  }

  override dispose(): void {
    this.#line.dispose();
    super.dispose();
  }
}

/**
 * The board of another machine, over a channel of the line to it. One that sent what no board sends is not tried again; one that was
 * never reached is not tried all the time: its command may ask a person, or count attempts.
 */
function farLink(machine: Machine, clock: Pick<Clock, 'after'>): OpenLink {
  let fault: string | undefined;
  let wasOpen = false;
  return async (events) => {
    if (fault !== undefined) throw new LinkRefused(fault);
    const channel = await machine.openChannel({ kind: 'board' }).catch((error: unknown) => {
      throw wasOpen ? error : new LinkRefused(messageOf(error));
    });
    wasOpen = true;
    const messages = new ForeignMessages(machine);
    const close = (): void => {
      limit.dispose();
      channel.dispose();
    };
    const end = (why: string): void => {
      close();
      events.closed(why);
    };
    const limit = clock.after(WELCOME_LIMIT_MS, () => end('Its board does not answer.'));
    channel.onClose(end);
    channel.onData((data) => {
      channel.taken(data.length);
      try {
        if (typeof data === 'string') events.message(messages.read(data));
        else events.frame(data);
        limit.dispose();
      } catch (error) {
        if (!(error instanceof ForeignFault)) throw error;
        fault = error.message;
        end(fault);
      }
    });
    const send = (message: ClientMessage): void => {
      messages.sent(message);
      channel.send(JSON.stringify(message));
    };
    send({ type: 'hello', v: BOARD_PROTOCOL, token: '', client: nameOfHere() });
    return { send, close };
  };
}

/** How a journal over there names who acts from here: `board/laptop-1`. */
function nameOfHere(): string {
  const words =
    hostname()
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  return ['from', ...words].join('-').slice(0, MAX_CLIENT_CHARS).replace(/-$/, '');
}
