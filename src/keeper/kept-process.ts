import { createConnection, type Socket } from 'node:net';
import { z } from 'zod';
import { systemClock, withinMs } from '../base/clock.js';
import { systemCodeOf } from '../base/errors.js';
import type { ProcessStats, TerminalSize } from '../processes/process-handle.js';
import type { ProcessRecord } from '../processes/process-record.js';
import type { ScreenText } from '../processes/process-screen.js';
import { err, ok, unreachable, type Result } from '../processes/result.js';
import type { Printed, RunningProcess } from '../processes/running-process.js';
import { readJsonLines, writeJsonLine } from './json-lines.js';
import {
  INPUT_PIECE_BYTES,
  killedSchema,
  printedSchema,
  processPushSchema,
  processReplySchema,
  screenSchema,
  statsSchema,
  type ProcessWish,
} from './process-messages.js';

/** A keeper answers in milliseconds, a kill within its ladder; every call of a tool must answer within 45 s. */
const REPLY_LIMIT_MS = 40_000;
/** A keeper whose process has ended says so within two seconds. */
const END_LIMIT_MS = 5_000;
/** Without an answer by then one looks whether the keeper does anything at all. */
const DOUBT_MS = 2_000;
/** A keeper greets at once; one that has not by then was halted, or hangs. */
const GREETING_LIMIT_MS = 3_000;
/** More wait to be accepted than the system keeps (connect(2), Unix sockets). */
const QUEUE_IS_FULL = 'EAGAIN';
const CONNECT_LIMIT_MS = 2_000;

type Wish = ProcessWish extends infer W ? (W extends { id: number } ? Omit<W, 'id'> : never) : never;

interface Pending {
  readonly resolve: (reply: Result<unknown>) => void;
  readonly timers: readonly NodeJS.Timeout[];
}

/** A process that a keeper runs, over the keeper's socket. */
export class KeptProcess implements RunningProcess {
  readonly ended: Promise<ProcessRecord>;
  readonly #socket: Socket;
  readonly #pending = new Map<number, Pending>();
  readonly #readRecord: () => Promise<ProcessRecord | undefined>;
  #record: ProcessRecord;
  #printed: Printed = { bytes: {}, lostBytes: 0 };
  #nextId = 1;
  #isClosed = false;
  #isSilent = false;
  #looking: Promise<boolean> | undefined;
  #end: (record: ProcessRecord) => void = () => undefined;

  private constructor(
    socket: Socket,
    record: ProcessRecord,
    readRecord: () => Promise<ProcessRecord | undefined>,
  ) {
    this.#socket = socket;
    this.#record = record;
    this.#readRecord = readRecord;
    this.ended = new Promise((resolve) => (this.#end = resolve));
    readJsonLines(socket, (value) => this.#onLine(value));
    socket.on('close', () => void this.#onClose());
    socket.on('error', () => socket.destroy());
    // A process that is kept holds up nobody's end.
    socket.unref();
  }

  /** Undefined when nobody listens there: the keeper is gone. `readRecord` reads what it wrote last. */
  static connect(
    record: ProcessRecord,
    readRecord: () => Promise<ProcessRecord | undefined>,
  ): Promise<KeptProcess | undefined> {
    const path = record.socket_path;
    if (path === null) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const socket = createConnection(path);
      socket.setTimeout(CONNECT_LIMIT_MS, () => socket.destroy(new Error('the keeper did not answer')));
      // Whatever keeps it from being reached: the state of its owner tells more.
      const onError = (): void => resolve(undefined);
      socket.once('error', onError);
      socket.once('connect', () => {
        socket.setTimeout(0);
        socket.removeListener('error', onError);
        resolve(new KeptProcess(socket, record, readRecord));
      });
    });
  }

  get record(): ProcessRecord {
    return this.#record;
  }

  async write(bytes: Uint8Array): Promise<Result<void>> {
    for (let at = 0; at < bytes.length; at += INPUT_PIECE_BYTES) {
      const piece = Buffer.from(bytes.subarray(at, at + INPUT_PIECE_BYTES));
      const done = await this.#do({ method: 'write', bytes: piece.toString('base64') });
      if (!done.ok) return done;
    }
    return ok(undefined);
  }

  endInput(): Promise<Result<void>> {
    return this.#do({ method: 'end_input' });
  }

  press(keys: readonly string[]): Promise<Result<void>> {
    return this.#do({ method: 'press', keys: [...keys] });
  }

  resize(size: TerminalSize): Promise<Result<void>> {
    return this.#do({ method: 'resize', size });
  }

  signal(name: NodeJS.Signals, { tree }: { readonly tree: boolean }): Promise<Result<void>> {
    return this.#do({ method: 'signal', name, tree });
  }

  async kill(first: NodeJS.Signals) {
    const killed = await this.#ask({ method: 'kill', first }, killedSchema);
    if (!killed.ok || killed.value.left > 0) return killed;
    const ended = await withinMs(systemClock, END_LIMIT_MS, this.ended);
    return ended === undefined ? silent(this.#record) : killed;
  }

  stats(): Promise<Result<ProcessStats>> {
    return this.#ask({ method: 'stats' }, statsSchema);
  }

  /** What was known last when the keeper is gone: all of it is on disk then. */
  async printed(): Promise<Printed> {
    const printed = await this.#ask({ method: 'printed' }, printedSchema);
    if (printed.ok) this.#printed = printed.value;
    return this.#printed;
  }

  untilPrints(printedBytes: number, limitMs: number): Promise<Result<void>> {
    return this.#do(
      { method: 'until_prints', bytes: printedBytes, limit_ms: limitMs },
      limitMs + REPLY_LIMIT_MS,
    );
  }

  screen(): Promise<Result<ScreenText>> {
    return this.#ask({ method: 'screen' }, screenSchema);
  }

  /** Lets go of it; it goes on. */
  dispose(): void {
    this.#socket.destroy();
  }

  async #do(wish: Wish, limitMs?: number): Promise<Result<void>> {
    const done = await this.#ask(wish, z.unknown(), limitMs);
    return done.ok ? ok(undefined) : done;
  }

  async #ask<T>(wish: Wish, schema: z.ZodType<T>, limitMs = REPLY_LIMIT_MS): Promise<Result<T>> {
    if (this.#isSilent && !this.#isClosed) await this.#look();
    if (this.#isClosed) return gone(this.#record);
    if (this.#isSilent) return silent(this.#record);
    const id = this.#nextId++;
    const reply = await new Promise<Result<unknown>>((resolve) => {
      const timers = [
        setTimeout(() => void this.#look(), DOUBT_MS),
        setTimeout(() => this.#settle(id, silent(this.#record)), limitMs),
      ];
      this.#pending.set(id, { resolve, timers });
      writeJsonLine(this.#socket, { id, ...wish });
    });
    if (!reply.ok) return reply;
    const parsed = schema.safeParse(reply.value);
    if (parsed.success) return ok(parsed.data);
    return unreachable(this.#record.process_id, 'its keeper, of another version, answered in its own way');
  }

  #settle(id: number, reply: Result<unknown>): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    for (const timer of pending?.timers ?? []) clearTimeout(timer);
    pending?.resolve(reply);
  }

  #settleAll(reply: Result<unknown>): void {
    for (const id of this.#pending.keys()) this.#settle(id, reply);
  }

  /** Whether the keeper does anything at all: whoever connects is greeted at once. All who wait are told when it does not. */
  async #look(): Promise<void> {
    this.#looking ??= isGreeted(this.#record).finally(() => (this.#looking = undefined));
    this.#isSilent = !(await this.#looking);
    if (this.#isSilent) this.#settleAll(silent(this.#record));
  }

  #onLine(value: unknown): void {
    this.#isSilent = false;
    const push = processPushSchema.safeParse(value);
    if (push.success) {
      this.#record = push.data.record;
      if (this.#record.status === 'terminated') this.#end(this.#record);
      return;
    }
    const reply = processReplySchema.safeParse(value);
    if (!reply.success) return;
    const { data } = reply;
    this.#settle(data.id, 'fault' in data ? { ok: false, fault: data.fault } : ok(data.value));
  }

  async #onClose(): Promise<void> {
    this.#isClosed = true;
    try {
      this.#record = (await this.#readRecord()) ?? this.#record;
    } catch {
      // What it said last counts; who asks next finds out what became of it.
    }
    this.#end(this.#record);
    this.#settleAll(gone(this.#record));
  }
}

/** False when the keeper takes a connection and says nothing. One that takes none is leaving, which its end tells. */
function isGreeted({ socket_path: path }: ProcessRecord): Promise<boolean> {
  if (path === null) return Promise.resolve(true);
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.unref().setTimeout(GREETING_LIMIT_MS, () => socket.destroy());
    let isTold = false;
    socket.once('data', () => {
      isTold = true;
      socket.destroy();
    });
    socket.once('error', (fault) => (isTold = systemCodeOf(fault) !== QUEUE_IS_FULL));
    socket.once('close', () => resolve(isTold));
  });
}

function silent({ process_id }: ProcessRecord) {
  return unreachable(
    process_id,
    'its keeper does not answer, and does what it was asked only when it goes on',
  );
}

function gone({ process_id, status }: ProcessRecord) {
  return status === 'terminated'
    ? err('NOT_RUNNING', `The process ${process_id} has ended.`, 'Its output can still be read.')
    : err(
        'NOT_RUNNING',
        `The keeper of the process ${process_id} is gone.`,
        'Call ps, which tells what became of it.',
      );
}
