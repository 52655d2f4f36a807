// Pure: the channels of a line, at either end of it.
import { Emitter, type Event } from '../base/lifecycle.js';
import { channelNotices } from './link-protocol.js';
import type { Channel } from './machine.js';

/** Sent to the other end, as a notification. */
type Send = (method: keyof typeof channelNotices, params: Readonly<Record<string, unknown>>) => void;

/** A terminal waits much earlier; an end that sends more is broken. */
const MAX_NOT_TAKEN = 48 * 1024 * 1024;
/** What waits for a listener: small pieces cost more than their bytes. */
const MAX_EARLY = 10_000;
const MAX_WHY_CHARS = 1_000;

/** The open channels of one line, by number. */
export class Channels {
  readonly #send: Send;
  readonly #open = new Map<number, ChannelEnd>();

  constructor(send: Send) {
    this.#send = send;
  }

  get size(): number {
    return this.#open.size;
  }

  /** A number that is given twice ends the channel that had it. */
  open(number: number): ChannelEnd {
    this.#open.get(number)?.closed('its number was given to another one');
    const channel = new ChannelEnd(number, this.#send, () => this.#open.delete(number));
    this.#open.set(number, channel);
    return channel;
  }

  /** Takes a notification; false when it is none of a channel that is open. */
  take(method: string, params: unknown): boolean {
    const read = readNotice(method, params);
    const channel = read && this.#open.get(read.channel);
    if (read === undefined || channel === undefined) return false;
    if (read.kind === 'data') channel.receive(read.data);
    else if (read.kind === 'taken') channel.wasTaken(read.total);
    else channel.closed(read.why);
    return true;
  }

  /** The line has ended. */
  closeAll(why: string): void {
    for (const channel of [...this.#open.values()]) channel.closed(why);
  }
}

/** One end of a channel. What comes before somebody listens waits for the first listener. */
export class ChannelEnd implements Channel {
  readonly #number: number;
  readonly #send: Send;
  readonly #onEnd: () => void;
  readonly #data = new Emitter<Uint8Array>();
  readonly #closes = new Emitter<string>();
  readonly #drains = new Emitter<void>();
  /** The other end has taken something of what was sent. */
  readonly onTaken: Event<void> = this.#drains.event;
  #early: Uint8Array[] = [];
  #closedWhy: string | undefined;
  #sent = 0;
  #sentTaken = 0;
  #received = 0;
  #taken = 0;

  constructor(number: number, send: Send, onEnd: () => void) {
    this.#number = number;
    this.#send = send;
    this.#onEnd = onEnd;
  }

  readonly onData: Event<Uint8Array> = (listener) => {
    const listening = this.#data.event(listener);
    for (const data of this.#early.splice(0)) this.#data.fire(data);
    return listening;
  };

  /** Calls back also when it was closed before. */
  readonly onClose: Event<string> = (listener) => {
    const why = this.#closedWhy;
    if (why !== undefined) queueMicrotask(() => listener(why));
    return this.#closes.event(listener);
  };

  /** Bytes that were sent and that the other end has not taken. */
  get queued(): number {
    return this.#sent - this.#sentTaken;
  }

  send(data: Uint8Array): void {
    if (this.#closedWhy !== undefined) return;
    this.#sent += data.length;
    this.#send('link/data', { channel: this.#number, bytes: Buffer.from(data).toString('base64') });
  }

  taken(count: number): void {
    if (this.#closedWhy !== undefined) return;
    this.#taken += count;
    this.#send('link/taken', { channel: this.#number, total: this.#taken });
  }

  /** Ends it for both ends. */
  refuse(why: string): void {
    if (this.#closedWhy !== undefined) return;
    this.#send('link/closed', { channel: this.#number, why: why.slice(0, MAX_WHY_CHARS) });
    this.closed(why);
  }

  dispose(): void {
    this.refuse('it was closed');
  }

  receive(piece: Uint8Array): void {
    this.#received += piece.length;
    if (this.#received - this.#taken > MAX_NOT_TAKEN)
      return this.refuse('too much was sent that is not read');
    if (piece.length === 0) return;
    if (this.#data.hasListeners) this.#data.fire(piece);
    else if (this.#early.push(piece) > MAX_EARLY) this.refuse('too many pieces were sent that are not read');
  }

  wasTaken(total: number): void {
    this.#sentTaken = Math.min(Math.max(total, this.#sentTaken), this.#sent);
    this.#drains.fire();
  }

  /** The other end, or the line, has ended it. */
  closed(why: string): void {
    if (this.#closedWhy !== undefined) return;
    this.#closedWhy = why;
    this.#onEnd();
    this.#closes.fire(why);
  }
}

type Notice = { readonly channel: number } & (
  | { readonly kind: 'data'; readonly data: Uint8Array }
  | { readonly kind: 'taken'; readonly total: number }
  | { readonly kind: 'closed'; readonly why: string }
);

function readNotice(method: string, params: unknown): Notice | undefined {
  if (method === 'link/taken') {
    const read = channelNotices[method].safeParse(params).data;
    return read && { kind: 'taken', ...read };
  }
  if (method === 'link/closed') {
    const read = channelNotices[method].safeParse(params).data;
    return read && { kind: 'closed', ...read };
  }
  const read = method === 'link/data' ? channelNotices[method].safeParse(params).data : undefined;
  return read && { kind: 'data', channel: read.channel, data: Buffer.from(read.bytes, 'base64') };
}
