import { z } from 'zod';
import { withinMs, type Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { Emitter, nextEvent, toDisposable, type Disposable } from '../base/lifecycle.js';
import { refusalOf, toolError } from './far-errors.js';
import { cleaned } from './foreign-words.js';
import { linkMethods, type LinkMethods } from './link-protocol.js';
import type { Channel, FarAnswer, LinkRequest, Machine, MachineState } from './machine.js';
import { FarRefusal, LineLost, Misread, NoAnswer, readAs } from './rpc.js';
import { openSession, type Session } from './session.js';
import { unanswered, unreachable, type Sent } from './unreachable.js';
import type { WireOptions } from './wire.js';

const REQUEST_MS = 40_000;
/** Most lines that come back at all are back by then. */
const BACK_MS = 20_000;
const IDLE_MS = 10 * 60_000;
/** Between two attempts to open a line that was cut; the first minute is the time in which most come back. */
const FIRST_PAUSE_MS = 300;
const MAX_SOON_PAUSE_MS = 1_000;
const SOON_MS = 60_000;
const MAX_PAUSE_MS = 30_000;
/** An attempt that began while the line was cut may hang: it is left, and the next one begins. A slow machine gets three times what it took. */
const ATTEMPT_MS = 5_000;
const SLOW = 3;
/** What a line that was cut soon after it opened has to last until the next pause is short again. */
const STEADY_MS = 2_000;

/** The line to one machine: opened by the first request, opened again when it was cut, closed after ten minutes without use. */
export class Line implements Machine, Disposable {
  readonly name: string;
  readonly #wire: Omit<WireOptions, 'signal' | 'limitMs'>;
  readonly #clock: Clock;
  readonly #states = new Emitter<MachineState>();
  readonly onState = this.#states.event;
  readonly #end = new AbortController();
  #state: MachineState = { how: 'closed' };
  #session: Session | undefined;
  #opening: Promise<Session> | undefined;
  /** Of an attempt; the first one has the time of the wire. */
  #limitMs: number | undefined;
  #wasLive = false;
  #pauseMs = FIRST_PAUSE_MS;
  #liveMs = 0;
  /** The last line that was cut had lasted. */
  #wasSteady = true;
  #retry: Disposable | undefined;
  #idle: Disposable | undefined;
  #uses = 0;

  constructor(wire: Omit<WireOptions, 'signal' | 'limitMs'>, clock: Clock) {
    this.name = wire.machine;
    this.#wire = wire;
    this.#clock = clock;
  }

  get state(): MachineState {
    return this.#state;
  }

  get clockOffsetMs(): number {
    return this.#session?.clockOffsetMs ?? 0;
  }

  async call<K extends keyof LinkMethods>(
    name: K,
    args: LinkMethods[K]['args'],
    request: LinkRequest,
  ): Promise<LinkMethods[K]['value']> {
    const take = (result: unknown): LinkMethods[K]['value'] => {
      // What a page asks for may be the text of a file: the page shows it as foreign.
      const shown = name === 'task.act' ? result : cleaned(result);
      const value = readAs(linkMethods[name].value, shown);
      requireAsked(args, value);
      return value;
    };
    return this.#request(`link/${name}`, args, take, request);
  }

  async callTool(name: string, args: object, request: LinkRequest): Promise<FarAnswer> {
    const params = { name, arguments: args };
    const take = (result: unknown): z.infer<typeof toolSchema> => {
      const answer = readAs(toolSchema, result);
      requireSame(args, answer.structuredContent);
      return answer;
    };
    const answer = await this.#request('tools/call', params, take, request);
    const { structuredContent, isError, _meta, content } = answer;
    if (isError !== true && structuredContent !== undefined) return structuredContent;
    throw toolError(this.name, content[0]?.text ?? 'It gave no answer.', _meta?.error ?? {});
  }

  async openChannel(what: LinkMethods['channel.open']['args']): Promise<Channel> {
    const used = this.#use();
    try {
      const session = await this.#connect();
      const take = (result: unknown) =>
        session.channels.open(readAs(linkMethods['channel.open'].value, result).channel);
      const channel = await session.rpc.request('link/channel.open', what, { take, timeoutMs: REQUEST_MS });
      channel.onClose(() => used.dispose());
      return channel;
    } catch (error) {
      used.dispose();
      throw this.#errorOf(error, 'channel.open', 'not_sent');
    }
  }

  /** Ends the line with its processes. */
  dispose(): void {
    this.#end.abort();
    this.#close();
    this.#states.dispose();
  }

  async #request<T>(
    method: string,
    params: object,
    take: (result: unknown) => T,
    { signal, timeoutMs = REQUEST_MS, repeats }: LinkRequest,
  ): Promise<T> {
    signal?.throwIfAborted();
    const used = this.#use();
    const limit = AbortSignal.timeout(timeoutMs);
    const both = signal === undefined ? limit : AbortSignal.any([signal, limit]);
    let sent: Sent = 'not_sent';
    try {
      for (;;) {
        const session = await (sent === 'unknown' ? this.#again(both) : raced(this.#connect(), both));
        try {
          return await session.rpc.request(method, params, { take, timeoutMs, signal: both });
        } catch (error) {
          const wasSent = !(error instanceof LineLost) || error.wasSent;
          if (wasSent) sent = 'unknown';
          if (!(error instanceof LineLost) || (wasSent && !repeats)) throw error;
        }
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw this.#errorOf(limit.aborted ? new NoAnswer() : error, method, sent);
    } finally {
      used.dispose();
    }
  }

  /** A caller of a lost answer waits so long for the line, and not all of its time. */
  async #again(signal: AbortSignal): Promise<Session> {
    const session = await withinMs(this.#clock, BACK_MS, raced(this.#live(), signal));
    if (session === undefined) throw new NoAnswer();
    return session;
  }

  /** The line that came back; it is tried at once, unless it was cut soon after it opened, and then again. */
  async #live(): Promise<Session> {
    if (this.#wasSteady) void this.#connect().catch(() => undefined);
    while (this.#session === undefined) await nextEvent(this.onState, ({ how }) => how === 'live');
    return this.#session;
  }

  /** The open line, or the next attempt to open one: an attempt that was begun before this call may fail for reasons that are over. */
  async #connect(): Promise<Session> {
    if (this.#session !== undefined) return this.#session;
    const begun = await this.#opening?.catch(() => undefined);
    return begun ?? this.#session ?? (this.#opening ??= this.#attempt());
  }

  async #attempt(): Promise<Session> {
    this.#retry?.dispose();
    if (this.#state.how === 'closed') this.#set({ how: 'opening' });
    const beganMs = this.#clock.monotonicMs();
    const limits = { limitMs: this.#limitMs, signal: this.#end.signal };
    try {
      const session = await openSession({ ...this.#wire, ...limits }, this.#clock);
      this.#wasLive = true;
      this.#limitMs = Math.max(ATTEMPT_MS, SLOW * (this.#clock.monotonicMs() - beganMs));
      this.#liveMs = this.#clock.monotonicMs();
      this.#session = session;
      this.#set({ how: 'live', far: session.far });
      session.rpc.onLost((why) => this.#cut(session, why));
      // Whoever asked for it may be gone.
      if (this.#uses === 0) this.#closeLater();
      return session;
    } catch (error) {
      this.#end.signal.throwIfAborted();
      const known = this.#state.how === 'unverifiable' ? this.#state.sinceMs : this.#clock.now();
      this.#set({ how: 'unverifiable', sinceMs: known, why: whyOf(error) });
      this.#tryLater();
      throw error;
    } finally {
      this.#opening = undefined;
    }
  }

  #cut(session: Session, why: string): void {
    if (this.#session !== session) return;
    this.#session = undefined;
    this.#wasSteady = this.#clock.monotonicMs() - this.#liveMs >= STEADY_MS;
    if (this.#wasSteady) this.#pauseMs = FIRST_PAUSE_MS;
    this.#set({ how: 'unverifiable', sinceMs: this.#clock.now(), why });
    this.#tryLater();
  }

  /**
   * Only for a line that was open before and that somebody waits for: what was never reached may ask a person for a key, or count
   * attempts.
   */
  #tryLater(): void {
    if (this.#state.how !== 'unverifiable' || !this.#wasLive || this.#end.signal.aborted) return;
    const isSoon = this.#wasSteady && this.#clock.now() - this.#state.sinceMs < SOON_MS;
    this.#retry = this.#clock.after(this.#pauseMs, () => {
      if (this.#isWanted) void this.#connect().catch(() => undefined);
    });
    this.#pauseMs = Math.min(2 * this.#pauseMs, isSoon ? MAX_SOON_PAUSE_MS : MAX_PAUSE_MS);
  }

  /** By a call, a channel, or who waits for the line to come back. */
  get #isWanted(): boolean {
    return this.#uses > 0 || this.#states.hasListeners;
  }

  #use(): Disposable {
    this.#uses += 1;
    this.#idle?.dispose();
    return toDisposable(() => {
      this.#uses -= 1;
      if (this.#uses === 0 && !this.#end.signal.aborted) this.#closeLater();
    });
  }

  #closeLater(): void {
    this.#idle?.dispose();
    this.#idle = this.#clock.after(IDLE_MS, () => this.#close());
  }

  #close(): void {
    this.#idle?.dispose();
    this.#retry?.dispose();
    const session = this.#session;
    this.#session = undefined;
    session?.dispose();
    if (this.#state.how === 'live') this.#set({ how: 'closed' });
  }

  #set(state: MachineState): void {
    this.#state = state;
    this.#states.fire(state);
  }

  /** The error for the caller. */
  #errorOf(error: unknown, method: string, sent: Sent): Error {
    if (error instanceof FarRefusal) return refusalOf(this.name, error);
    if (error instanceof Misread)
      return unanswered(this.name, sent, `has answered ${method} in a form that is not understood`);
    if (this.#end.signal.aborted) return unreachable(this.name, sent, 'it was closed');
    const state = this.#state;
    if (error instanceof NoAnswer && state.how === 'live')
      return unanswered(this.name, sent, `has not answered ${method} in time`);
    if (!(error instanceof NoAnswer || error instanceof LineLost || isUnreachable(error)))
      return errorFrom(error);
    if (state.how !== 'unverifiable') return unreachable(this.name, sent, whyOf(error));
    return unreachable(this.name, sent, state.why, this.#wasLive ? state.sinceMs : undefined);
  }
}

const toolSchema = z.object({
  content: z.array(z.looseObject({ text: z.string().optional() })),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean().optional(),
  _meta: z.looseObject({ error: z.record(z.string(), z.unknown()).optional() }).optional(),
});

const named = z.object({ task_id: z.string() });
const namesSchema = z.object({
  task_id: z.string().optional(),
  task: named.optional(),
  tasks: z.array(named).optional(),
  receipt: named.nullable().optional(),
});
const askedSchema = z.object({ task_id: z.string().optional(), task_ids: z.array(z.string()).optional() });

/** Throws Misread for an answer about another task than the one that was asked for. */
function requireAsked(args: unknown, value: unknown): void {
  const { task_id, task_ids = [task_id] } = askedSchema.parse(args);
  const { tasks = [], task, receipt, ...record } = readAs(namesSchema, value);
  const told = [record, task, receipt, ...tasks].map((one) => one?.task_id).filter((id) => id !== undefined);
  if (task_ids[0] !== undefined && told.some((id) => !task_ids.includes(id)))
    throw new Misread('the far side has answered about another task');
}

const sameSchema = z.object({ task_id: z.unknown(), pid: z.unknown() }).partial();

/** Throws Misread for an answer of a tool about another task or process than the one that the call names. */
function requireSame(args: unknown, answer: unknown): void {
  const asked = sameSchema.safeParse(args).data;
  const told = sameSchema.safeParse(answer).data;
  const differs = (one: unknown, other: unknown): boolean =>
    one !== undefined && other !== undefined && one !== other;
  if (differs(asked?.task_id, told?.task_id) || differs(asked?.pid, told?.pid))
    throw new Misread('the far side has answered about something else');
}

/** The promise, or the end of the signal. */
function raced<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(errorFrom(signal.reason));
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function isUnreachable(error: unknown): boolean {
  return error instanceof BridgeError && error.code === 'MACHINE_UNREACHABLE';
}

function whyOf(error: unknown): string {
  return (error instanceof BridgeError ? error.data['why'] : undefined) ?? messageOf(error);
}

function errorFrom(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
