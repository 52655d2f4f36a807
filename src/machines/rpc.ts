import { z } from 'zod';
import { messageOf } from '../base/errors.js';
import { isDeepJson } from '../base/input.js';
import { Emitter, type Disposable, type Event } from '../base/lifecycle.js';
import type { Wire } from './wire.js';

/** The limit of the protocol on both ends. */
const MAX_LINE_BYTES = 10 * 1024 * 1024;
/** Messages between two answers that are of no use here: a bridge sends a few. */
const MAX_USELESS = 200;
/** What the far side does not read. */
const MAX_UNSENT_BYTES = 32 * 1024 * 1024;
const NEWLINE = 0x0a;

/** The line ended while the request had no answer, or before it was sent. */
export class LineLost extends Error {
  readonly wasSent: boolean;

  constructor(why: string, wasSent: boolean) {
    super(why);
    this.wasSent = wasSent;
  }
}
/** The request had no answer in its time; the line is open. */
export class NoAnswer extends Error {
  override readonly message = 'no answer came in time';
}
/** The far side has refused. */
export class FarRefusal extends Error {
  readonly data: unknown;

  constructor(message: string, data: unknown) {
    super(message);
    this.data = data;
  }
}

/** The answer has another form. */
export class Misread extends Error {}

/** Throws Misread. */
export function readAs<T>(schema: z.ZodType<T>, value: unknown): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  throw new Misread('the far side has answered what is not understood');
}

/** How one request is made. `take` turns its result into the answer at once, before any later message; it may throw. */
export interface RpcRequest<T> {
  readonly take: (result: unknown) => T;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

interface Pending {
  readonly take: (result: unknown) => void;
  readonly fail: (error: Error) => void;
}

const messageSchema = z.union([
  z.object({ id: z.int(), result: z.unknown() }).refine((one) => 'result' in one),
  z.object({ id: z.int(), error: z.object({ message: z.string(), data: z.unknown().optional() }) }),
  z.object({ id: z.undefined().optional(), method: z.string(), params: z.unknown().optional() }),
]);

/**
 * JSON-RPC 2.0 over a wire, one message a line. The far side is trusted no more than a project: a line that is too long, too deep or no
 * message, and too many messages of no use, end the wire.
 */
export class Rpc implements Disposable {
  readonly #losses = new Emitter<string>();
  /** Why the wire has ended, in words: before the requests learn it, and also when that was before. */
  readonly onLost: Event<string> = (listener) => {
    if (this.#lostWhy !== undefined) listener(this.#lostWhy);
    return this.#losses.event(listener);
  };
  readonly #wire: Wire;
  readonly #onNotice: (method: string, params: unknown) => boolean;
  readonly #pending = new Map<number, Pending>();
  #lostWhy: string | undefined;
  #nextId = 1;
  #useless = 0;
  #parts: Buffer[] = [];
  #bytes = 0;
  #heardMs = performance.now();

  /** `onNotice` returns whether it could use a notification. */
  constructor(wire: Wire, onNotice: (method: string, params: unknown) => boolean) {
    this.#wire = wire;
    this.#onNotice = onNotice;
    wire.output.on('data', (chunk: Buffer) => this.#read(chunk)).resume();
    void wire.ended.then((why) => this.lose(why));
  }

  /** When the last byte came, as `performance.now` counts. */
  get heardMs(): number {
    return this.#heardMs;
  }

  /** Rejects with FarRefusal, LineLost, NoAnswer, what `take` throws, or the reason of the signal. */
  request<T>(method: string, params: object, { take, timeoutMs, signal }: RpcRequest<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#lostWhy !== undefined) return reject(new LineLost(this.#lostWhy, false));
      const id = this.#nextId++;
      const giveUp = (error: Error): void => {
        this.notify('notifications/cancelled', { requestId: id });
        end(() => reject(error));
      };
      const onAbort = (): void =>
        giveUp(signal?.reason instanceof Error ? signal.reason : new Error('cancelled'));
      const timer = setTimeout(() => giveUp(new NoAnswer()), timeoutMs);
      const end = (settle: () => void): void => {
        this.#pending.delete(id);
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        settle();
      };
      this.#pending.set(id, {
        fail: (error) => end(() => reject(error)),
        take: (result) => end(() => resolve(take(result))),
      });
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#write({ id, method, params });
      if (signal?.aborted === true) onAbort();
    });
  }

  notify(method: string, params: object): void {
    if (this.#lostWhy === undefined) this.#write({ method, params });
  }

  /** Ends the wire; `why` is what those learn that wait for an answer. */
  lose(why: string): void {
    if (this.#lostWhy !== undefined) return;
    this.#lostWhy = why;
    this.#wire.output.removeAllListeners('data');
    this.#wire.dispose();
    this.#losses.fire(why);
    for (const { fail } of [...this.#pending.values()]) fail(new LineLost(why, true));
  }

  dispose(): void {
    this.lose('it was closed');
  }

  #write(message: object): void {
    this.#wire.input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    if (this.#wire.input.writableLength > MAX_UNSENT_BYTES) this.lose('the far side reads nothing');
  }

  #read(chunk: Buffer): void {
    this.#heardMs = performance.now();
    let rest = chunk;
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      this.#parts.push(rest.subarray(0, end));
      const line = Buffer.concat(this.#parts.splice(0));
      this.#bytes = 0;
      rest = rest.subarray(end + 1);
      this.#take(line);
      if (this.#lostWhy !== undefined) return;
    }
    this.#parts.push(rest);
    this.#bytes += rest.length;
    if (this.#bytes > MAX_LINE_BYTES) this.lose('the far side sent a line without end');
  }

  #take(line: Buffer): void {
    if (line.length > MAX_LINE_BYTES) return this.lose('the far side sent a line that is too long');
    if (isDeepJson(line)) return this.lose('the far side sent a message that nests too deeply');
    const message = messageSchema.safeParse(jsonOf(line)).data;
    if (message === undefined || !this.#use(message)) this.#useless += 1;
    if (this.#useless > MAX_USELESS) this.lose('the far side sends messages that answer nothing');
  }

  /** False for what is of no use. */
  #use(message: z.infer<typeof messageSchema>): boolean {
    if (message.id === undefined) return this.#onNotice(message.method, message.params);
    const pending = this.#pending.get(message.id);
    if (pending === undefined) return false;
    this.#useless = 0;
    if ('error' in message) {
      pending.fail(new FarRefusal(message.error.message, message.error.data));
      return true;
    }
    try {
      pending.take(message.result);
    } catch (error) {
      pending.fail(error instanceof Error ? error : new Error(messageOf(error)));
    }
    return true;
  }
}

function jsonOf(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    // It is counted.
    return undefined;
  }
}
