import { createConnection, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { z } from 'zod';
import { systemCodeOf } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import { readJsonLines, writeJsonLine } from './json-lines.js';
import { type Calls, errorFromWire, methods, type Push, pushSchema, wireErrorSchema } from './messages.js';

/** A keeper that runs accepts at once. */
const CONNECT_LIMIT_MS = 2_000;
/** No socket, no listener, or a keeper that stopped listening before it accepted. */
const NO_LISTENER: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET']);
/** More connections wait to be accepted than the system queues (connect(2), Unix sockets). */
const QUEUE_IS_FULL = 'EAGAIN';

/**
 * A connection to the keeper that listens at `path`, or undefined when nothing listens there. Otherwise rejects with what
 * `failure` returns. `isStuck` is true when the keeper exists and does not accept, false when the connection failed on this side.
 */
export function openSocket(
  path: string,
  failure: (why: string, isStuck: boolean) => Error,
): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    socket.setTimeout(CONNECT_LIMIT_MS, () =>
      socket.destroy(new Error('the keeper did not accept the connection')),
    );
    const onError = (error: Error): void => {
      const code = systemCodeOf(error);
      if (NO_LISTENER.has(code)) resolve(undefined);
      else reject(failure(error.message, code === undefined || code === QUEUE_IS_FULL));
    };
    socket.once('error', onError);
    socket.once('connect', () => {
      socket.setTimeout(0);
      socket.removeListener('error', onError);
      resolve(socket);
    });
  });
}

/** A keeper answers in milliseconds, a kill within its grace times; every call of a tool must answer within 45 s. */
const REPLY_LIMIT_MS = 40_000;
/** After this without an answer, it is checked whether the keeper responds at all. */
const DOUBT_MS = 2_000;
const PING_LIMIT_MS = 3_000;

/**
 * `closed`: the keeper is gone. `silent`: it does not respond, and acts on the request only when it goes on. `late`: it responds, but
 * has not answered this request in time. `unread`: it is of another version, and its answer cannot be read.
 */
export type LinkFailure = 'closed' | 'silent' | 'late' | 'unread';

interface Pending {
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timers: readonly NodeJS.Timeout[];
}

/** The part of an answer that is the same in every version. */
const replySchema = z.looseObject({
  id: z.number(),
  value: z.unknown().optional(),
  error: wireErrorSchema.optional(),
});

/** The client's side of the connection to a keeper: numbered requests, their answers, and what the keeper sends without a request. */
export abstract class Link implements Disposable {
  /** Its `pause` and `resume` hold back what the keeper sends. */
  protected readonly socket: Duplex;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #isClosed = false;

  protected constructor(socket: Duplex) {
    this.socket = socket;
    readJsonLines(socket, (line) => this.#onLine(line));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#onClose());
  }

  protected get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Called with what the keeper sends without a request, unless it is of another version and cannot be read. */
  protected abstract onPush(push: Push): void;
  protected abstract onClosed(): void;
  /** The error of a request that gets no answer. */
  protected abstract failure(why: LinkFailure): Error;

  /** The answer to a request. Rejects with the keeper's error, or with `failure` when there is no answer that can be read. */
  protected async call<K extends keyof Calls>(
    method: K,
    args: Calls[K]['args'],
    limitMs = REPLY_LIMIT_MS,
  ): Promise<Calls[K]['value']> {
    if (this.#isClosed) throw this.failure('closed');
    const id = this.#nextId++;
    const answer = await new Promise((resolve, reject) => {
      const timers = [
        setTimeout(() => this.#ping(), DOUBT_MS),
        setTimeout(() => this.#take(id)?.reject(this.failure('late')), limitMs),
      ];
      this.#pending.set(id, { resolve, reject, timers });
      writeJsonLine(this.socket, { ...args, method, id });
    });
    const read = methods[method].value.safeParse(answer);
    if (read.success) return read.data;
    throw this.failure('unread');
  }

  dispose(): void {
    this.socket.destroy();
    this.#onClose();
  }

  /** A keeper answers a ping at once, one of another version with an error. If there is no answer, all open requests fail. */
  #ping(): void {
    const id = this.#nextId++;
    const timers = [setTimeout(() => this.#rejectAll('silent'), PING_LIMIT_MS)];
    this.#pending.set(id, { resolve: () => undefined, reject: () => undefined, timers });
    writeJsonLine(this.socket, { id, method: 'ping' });
  }

  #onLine(line: unknown): void {
    const reply = replySchema.safeParse(line).data;
    if (reply === undefined) {
      const push = pushSchema.safeParse(line).data;
      if (push !== undefined) this.onPush(push);
      return;
    }
    const pending = this.#take(reply.id);
    if (reply.error !== undefined) pending?.reject(errorFromWire(reply.error));
    else pending?.resolve(reply.value);
  }

  #onClose(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#rejectAll('closed');
    this.onClosed();
  }

  #rejectAll(why: LinkFailure): void {
    for (const id of [...this.#pending.keys()]) this.#take(id)?.reject(this.failure(why));
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    for (const timer of pending?.timers ?? []) clearTimeout(timer);
    return pending;
  }
}
