import type { Clock } from '../../base/clock.js';
import { hostname } from 'node:os';
import type { Machine } from '../../machines/machine.js';
import { LinkRefused, type OpenLink } from '../client.js';
import { BOARD_PROTOCOL, type ClientMessage } from '../protocol.js';
import { ForeignFault, ForeignMessages } from './foreign-messages.js';

/** After the channel is open. */
const WELCOME_LIMIT_MS = 10_000;
const MAX_CLIENT_CHARS = 30;

/** The board of another machine, over a channel of the line to it. One that sent what no board sends is not tried again. */
export function farLink(machine: Machine, clock: Pick<Clock, 'after'>): OpenLink {
  let fault: string | undefined;
  return async (events) => {
    if (fault !== undefined) throw new LinkRefused(fault);
    const channel = await machine.openChannel({ kind: 'board' });
    const messages = new ForeignMessages(machine.name, () => wholeSeconds(machine.clockOffsetMs));
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
    const send = (message: ClientMessage): void => channel.send(JSON.stringify(message));
    send({ type: 'hello', v: BOARD_PROTOCOL, token: '', client: nameOfHere() });
    return { send, close };
  };
}

/** A clock is read over a line: a card must not change with each time that it is read. */
function wholeSeconds(ms: number): number {
  return Math.round(ms / 1_000) * 1_000;
}

/** How a journal over there names who acts from here: `board/laptop-1`. */
function nameOfHere(): string {
  const words = hostname().toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return ['from', ...words].join('-').slice(0, MAX_CLIENT_CHARS).replace(/-$/, '');
}
