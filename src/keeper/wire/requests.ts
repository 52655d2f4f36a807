import type { Socket } from 'node:net';
import { z } from 'zod';
import type { Disposable } from '../../base/lifecycle.js';
import { readJsonLines, writeJsonLine } from './json-lines.js';
import { errorFromWire, wireErrorSchema } from './wire-error.js';

/** A keeper answers in milliseconds, a kill within its grace times; every call of a tool must answer within 45 s. */
const REPLY_LIMIT_MS = 40_000;
/** After this without an answer, it is checked whether the keeper responds at all. */
const DOUBT_MS = 2_000;
const PING_LIMIT_MS = 3_000;

/**
 * `closed`: the keeper is gone. `silent`: it does not respond. `unsent`: it did not respond before either, so the request was not
 * sent. `late`: it responds, but has not answered this request in time.
 */
export type RequestFailure = 'closed' | 'silent' | 'unsent' | 'late';

export interface RequestsOptions {
  /** Called with each line that is not an answer. */
  readonly onPush: (line: unknown) => void;
  readonly onClose: () => void;
  /** The error of a request that gets no answer. */
  readonly failure: (why: RequestFailure) => Error;
}

interface Pending {
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timers: readonly NodeJS.Timeout[];
}

/** The part of an answer that is the same in every version. */
const replySchema = z.looseObject({ id: z.number() });
const errorReplySchema = z.object({ error: wireErrorSchema });

/** The client's side of the connection to a keeper: numbered requests, their answers, and what the keeper sends without a request. */
export class Requests implements Disposable {
  readonly #socket: Socket;
  readonly #options: RequestsOptions;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #isClosed = false;
  #isSilent = false;
  #checking: Promise<boolean> | undefined;

  constructor(socket: Socket, options: RequestsOptions) {
    this.#socket = socket;
    this.#options = options;
    readJsonLines(socket, (line) => this.#onLine(line));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#onClose());
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Resolves with the answer. Rejects with the keeper's error, or with `failure` when there is no answer. */
  async request(message: object, limitMs = REPLY_LIMIT_MS): Promise<unknown> {
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

  #onLine(line: unknown): void {
    this.#isSilent = false;
    const reply = replySchema.safeParse(line);
    if (!reply.success) return this.#options.onPush(line);
    const pending = this.#take(reply.data.id);
    const refused = errorReplySchema.safeParse(line);
    if (refused.success) pending?.reject(errorFromWire(refused.data.error));
    else pending?.resolve(line);
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

  #rejectAll(why: RequestFailure): void {
    for (const id of [...this.#pending.keys()]) this.#take(id)?.reject(this.#options.failure(why));
  }
}
