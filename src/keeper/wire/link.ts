import { createConnection, type Socket } from 'node:net';
import { z } from 'zod';
import { systemCodeOf } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import { readJsonLines, writeJsonLine } from './json-lines.js';
import { type Calls, errorFromWire, type Methods, wireErrorSchema } from './messages.js';

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
 * `closed`: the keeper is gone. `silent`: it does not respond. `unsent`: it did not respond before either, so the request was not
 * sent. `late`: it responds, but has not answered this request in time. `unread`: it is of another version, and its answer cannot be read.
 */
export type LinkFailure = 'closed' | 'silent' | 'unsent' | 'late' | 'unread';

export interface LinkOptions<T extends Calls<T>> {
  readonly methods: Methods<T>;
  /** Called with each line that is not an answer. */
  readonly onPush: (line: unknown) => void;
  readonly onClose: () => void;
  /** The error of a request that gets no answer. */
  readonly failure: (why: LinkFailure) => Error;
}

interface Pending {
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timers: readonly NodeJS.Timeout[];
}

/** The part of an answer that is the same in every version. */
const replySchema = z.looseObject({ id: z.number(), value: z.unknown().optional() });
const errorReplySchema = z.object({ error: wireErrorSchema });

/** The client's side of the connection to a keeper: numbered requests, their answers, and what the keeper sends without a request. */
export class Link<T extends Calls<T>> implements Disposable {
  readonly #socket: Socket;
  readonly #options: LinkOptions<T>;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #isClosed = false;
  #isSilent = false;
  #checking: Promise<boolean> | undefined;

  constructor(socket: Socket, options: LinkOptions<T>) {
    this.#socket = socket;
    this.#options = options;
    readJsonLines(socket, (line) => this.#onLine(line));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#onClose());
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The answer to a request. Rejects with the keeper's error, or with `failure` when there is no answer that can be read. */
  async call<K extends keyof T & string>(
    method: K,
    args: T[K]['args'],
    limitMs = REPLY_LIMIT_MS,
  ): Promise<T[K]['value']> {
    const answer = await this.#request({ ...args, method }, limitMs);
    const read = this.#options.methods[method].value.safeParse(answer);
    if (read.success) return read.data;
    throw this.#options.failure('unread');
  }

  /** Reads nothing until `resume`, so the keeper sends less. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** The connection does not keep this process alive. */
  unref(): void {
    this.#socket.unref();
  }

  dispose(): void {
    this.#socket.destroy();
    this.#onClose();
  }

  async #request(message: object, limitMs: number): Promise<unknown> {
    if (this.#isSilent && !this.#isClosed) await this.#check();
    if (this.#isClosed) throw this.#options.failure('closed');
    if (this.#isSilent) throw this.#options.failure('unsent');
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const timers = [
        setTimeout(() => void this.#check(), DOUBT_MS),
        setTimeout(() => this.#take(id)?.reject(this.#options.failure('late')), limitMs),
      ];
      this.#pending.set(id, { resolve, reject, timers });
      writeJsonLine(this.#socket, { id, ...message });
    });
  }

  #onLine(line: unknown): void {
    this.#isSilent = false;
    const reply = replySchema.safeParse(line);
    if (!reply.success) return this.#options.onPush(line);
    const pending = this.#take(reply.data.id);
    const refused = errorReplySchema.safeParse(line);
    if (refused.success) pending?.reject(errorFromWire(refused.data.error));
    else pending?.resolve(reply.data.value);
  }

  /** Whether the keeper responds: it answers a ping at once. If it does not, all open requests fail. */
  async #check(): Promise<void> {
    this.#checking ??= this.#answersPing().finally(() => (this.#checking = undefined));
    this.#isSilent = !(await this.#checking);
    if (this.#isSilent) this.#rejectAll('silent');
  }

  #answersPing(): Promise<boolean> {
    return new Promise((resolve) => {
      const id = this.#nextId++;
      const silent = (): void => {
        this.#take(id);
        resolve(false);
      };
      const answers = (): void => resolve(true);
      // One of another version answers with an error. `#isClosed` says that the connection was closed.
      this.#pending.set(id, {
        resolve: answers,
        reject: answers,
        timers: [setTimeout(silent, PING_LIMIT_MS)],
      });
      writeJsonLine(this.#socket, { id, method: 'ping' });
    });
  }

  #onClose(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#rejectAll('closed');
    this.#options.onClose();
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    for (const timer of pending?.timers ?? []) clearTimeout(timer);
    return pending;
  }

  #rejectAll(why: LinkFailure): void {
    for (const id of [...this.#pending.keys()]) this.#take(id)?.reject(this.#options.failure(why));
  }
}
