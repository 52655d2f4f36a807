import type { Socket } from 'node:net';
import { withinMs } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import { systemClock } from '../../base/system-clock.js';
import {
  notRunning,
  type OutputBytes,
  type ProcessInput,
  type ProcessStats,
  processUnreachable,
  type RunningProcess,
} from '../../processes/process-handle.js';
import { type ProcessRecord, processRecordSchema } from '../../processes/process-record.js';
import { Link, type LinkFailure } from '../wire/link.js';
import type { Calls, Push } from '../wire/messages.js';

/** A keeper reports the end of its process within two seconds. */
const END_LIMIT_MS = 5_000;
/** An answer comes within this after the time that the request itself takes. */
const ANSWER_LIMIT_MS = 40_000;

const WHY: Readonly<Record<Exclude<LinkFailure, 'closed'>, string>> = {
  silent: 'its keeper does not answer; it acts on the request only when it continues',
  late: 'its keeper did not answer in time',
  unread: 'its keeper is of another version of the bridge, and its answer cannot be read',
};

/** A process that a keeper runs, over the keeper's socket. */
export class KeptProcess extends Link implements RunningProcess {
  readonly ended: Promise<ProcessRecord>;
  /** A keeper closes its connections when it has written the end. */
  readonly recorded: Promise<void>;
  readonly #readRecord: () => Promise<ProcessRecord | undefined>;
  #record: ProcessRecord;
  #end: (record: ProcessRecord) => void = () => undefined;
  #close: () => void = () => undefined;

  /** `readRecord` reads what the keeper wrote last. The connection does not keep this process alive. */
  constructor(socket: Socket, record: ProcessRecord, readRecord: () => Promise<ProcessRecord | undefined>) {
    super(socket);
    this.#record = record;
    this.#readRecord = readRecord;
    this.ended = new Promise((resolve) => (this.#end = resolve));
    this.recorded = new Promise((resolve) => (this.#close = resolve));
    socket.unref();
  }

  get record(): ProcessRecord {
    return this.#record;
  }

  async give(input: ProcessInput): Promise<void> {
    const { size, text, keys, eof } = input;
    await this.#ask('give', { size, text, eof, ...(keys !== undefined && { keys: [...keys] }) });
  }

  async signal(name: NodeJS.Signals): Promise<void> {
    await this.#ask('signal', { name });
  }

  async kill(first: NodeJS.Signals): Promise<number> {
    const left = await this.#ask('end', { first });
    if (left === 0 && (await withinMs(systemClock, END_LIMIT_MS, this.ended)) === undefined)
      throw this.failure('silent');
    return left;
  }

  stats(): Promise<ProcessStats> {
    return this.#ask('stats', {});
  }

  printed(beyond = -1, limitMs = 0): Promise<OutputBytes> {
    return this.#ask('printed', { beyond, limit_ms: limitMs }, limitMs + ANSWER_LIMIT_MS);
  }

  screen(): Promise<Calls['screen']['value']> {
    return this.#ask('screen', {});
  }

  protected onPush(push: Push): void {
    const record = push.push === 'record' ? processRecordSchema.safeParse(push.record).data : undefined;
    this.#record = record ?? this.#record;
    if (this.#record.status === 'terminated') this.#end(this.#record);
  }

  protected onClosed(): void {
    void this.#settle();
  }

  protected failure(why: LinkFailure): BridgeError {
    const { process_id: id, status } = this.#record;
    if (why !== 'closed') return processUnreachable(id, WHY[why]);
    if (status === 'terminated') return notRunning(id);
    const message = `The keeper of the process ${id} is gone.`;
    return new BridgeError('PROCESS_NOT_RUNNING', message, 'Call ps to see its state.');
  }

  readonly #ask: Link['call'] = (method, args, limitMs) =>
    this.call(method, args, limitMs).catch(async (error: unknown) => {
      if (!this.isClosed) throw error;
      // The record that the keeper wrote last says how it ended.
      await this.ended;
      throw this.failure('closed');
    });

  async #settle(): Promise<void> {
    // When it cannot be read, the record that the keeper sent last is used; the next request reports what is so now.
    if (this.#record.status === 'running')
      this.#record = (await this.#readRecord().catch(() => undefined)) ?? this.#record;
    // First: a caller that waited for the end then asks for the record on disk.
    this.#close();
    this.#end(this.#record);
  }
}
