import { rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { withinMs } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import { systemClock } from '../../base/system-clock.js';
import {
  type KeptLaunch,
  notRunning,
  type OutputBytes,
  type ProcessKeepers,
  type ProcessStats,
  processUnreachable,
  type RunningProcess,
} from '../../processes/process-handle.js';
import { type ProcessRecord, processRecordSchema } from '../../processes/process-record.js';
import type { ProcessStore } from '../../processes/process-store.js';
import type { TerminalSize } from '../../pty/child.js';
import type { KeptMessage } from '../main/keep-process.js';
import { Link, type LinkFailure, openSocket } from '../wire/link.js';
import { type ProcessCalls, processMethods, processPushSchema } from '../wire/messages.js';
import { type KeeperProgram, launchKeeper, READY_LIMIT_MS } from './launch-keeper.js';

/** A keeper reports the end of its process within two seconds. */
const END_LIMIT_MS = 5_000;
/** An answer comes within this after the time that the request itself takes. */
const ANSWER_LIMIT_MS = 40_000;
/** Input is sent in pieces of this size, so that lines stay short. */
const INPUT_PIECE_BYTES = 256 * 1024;

/** A process that a keeper runs, over the keeper's socket. */
export class KeptProcess implements RunningProcess {
  readonly ended: Promise<ProcessRecord>;
  /** A keeper closes its connections when it has written the end. */
  readonly recorded: Promise<void>;
  readonly #link: Link<ProcessCalls>;
  #record: ProcessRecord;
  #printed: OutputBytes = {};
  #end: (record: ProcessRecord) => void = () => undefined;

  /** `readRecord` reads what the keeper wrote last. */
  constructor(socket: Socket, record: ProcessRecord, readRecord: () => Promise<ProcessRecord | undefined>) {
    this.#record = record;
    this.ended = new Promise((resolve) => (this.#end = resolve));
    let close = (): void => undefined;
    this.recorded = new Promise((resolve) => (close = resolve));
    this.#link = new Link(socket, {
      methods: processMethods,
      onPush: (line) => this.#onPush(line),
      onClose: () => void this.#closed(readRecord, close),
      failure: (why) => failureOf(this.#record, why),
    });
    // The connection to a kept process does not keep this process alive.
    this.#link.socket.unref();
  }

  get record(): ProcessRecord {
    return this.#record;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += INPUT_PIECE_BYTES) {
      const piece = Buffer.from(bytes.subarray(at, at + INPUT_PIECE_BYTES));
      await this.#call('write', { bytes: piece.toString('base64') });
    }
  }

  async endInput(): Promise<void> {
    await this.#call('end_input', {});
  }

  async press(keys: readonly string[]): Promise<void> {
    await this.#call('press', { keys: [...keys] });
  }

  async resize(size: TerminalSize): Promise<void> {
    await this.#call('resize', { size });
  }

  async signal(name: NodeJS.Signals): Promise<void> {
    await this.#call('signal', { name });
  }

  async kill(first: NodeJS.Signals): Promise<number> {
    const left = await this.#call('kill', { first });
    if (left === 0 && (await withinMs(systemClock, END_LIMIT_MS, this.ended)) === undefined)
      throw failureOf(this.#record, 'silent');
    return left;
  }

  stats(): Promise<ProcessStats> {
    return this.#call('stats', {});
  }

  /** The last known counts when the keeper is gone: all output is on disk then. */
  async printed(): Promise<OutputBytes> {
    try {
      this.#printed = await this.#call('printed', {});
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
    }
    return this.#printed;
  }

  async untilPrints(bytes: number, limitMs: number): Promise<void> {
    await this.#call('until_prints', { bytes, limit_ms: limitMs }, limitMs + ANSWER_LIMIT_MS);
  }

  screen(): Promise<string> {
    return this.#call('screen', {});
  }

  readonly #call: Link<ProcessCalls>['call'] = (method, args, limitMs) =>
    this.#link.call(method, args, limitMs).catch(async (error: unknown) => {
      // The record that the keeper wrote last says how it ended.
      throw this.#link.isClosed ? failureOf(await this.ended, 'closed') : error;
    });

  #onPush(line: unknown): void {
    this.#record = processPushSchema.safeParse(line).data?.record ?? this.#record;
    if (this.#record.status === 'terminated') this.#end(this.#record);
  }

  async #closed(readRecord: () => Promise<ProcessRecord | undefined>, close: () => void): Promise<void> {
    // When it cannot be read, the record that the keeper sent last is used; the next request reports what is so now.
    if (this.#record.status === 'running')
      this.#record = (await readRecord().catch(() => undefined)) ?? this.#record;
    // First: a caller that waited for the end then asks for the record on disk.
    close();
    this.#end(this.#record);
  }
}

function failureOf({ process_id: id, status }: ProcessRecord, why: LinkFailure): BridgeError {
  if (why !== 'closed') return processUnreachable(id, WHY[why]);
  if (status === 'terminated') return notRunning(id);
  const message = `The keeper of the process ${id} is gone.`;
  return new BridgeError('PROCESS_NOT_RUNNING', message, 'Call ps to see its state.');
}

const WHY: Readonly<Record<Exclude<LinkFailure, 'closed'>, string>> = {
  silent: 'its keeper does not answer; it acts on the request only when it continues',
  late: 'its keeper did not answer in time',
  unread: 'its keeper is of another version of the bridge, and its answer cannot be read',
};

/** An engine that is busy takes up to a minute to start a container. */
const CONTAINER_LIMIT_MS = 60_000;

export interface ProcessKeeperHostOptions extends KeeperProgram {
  readonly store: ProcessStore;
  /** Shell of the wrapper around a program in a terminal. */
  readonly shell: string;
  readonly maxOutputBytes: number;
  readonly containers: NonNullable<KeptMessage['containers']>;
}

/** Starts a keeper for each process with `keep`; the keeper outlives this process. */
export class ProcessKeeperHost implements ProcessKeepers {
  readonly #options: ProcessKeeperHostOptions;

  constructor(options: ProcessKeeperHostOptions) {
    this.#options = options;
  }

  async launch(launch: KeptLaunch): Promise<RunningProcess> {
    const { store, shell, maxOutputBytes, containers } = this.#options;
    const isContainer = launch.record.mode === 'docker';
    const record = await launchKeeper(this.#options, {
      id: launch.record.process_id,
      input: { ...launch, ...(isContainer && { containers }), shell, maxOutputBytes },
      limitMs: READY_LIMIT_MS + (isContainer ? CONTAINER_LIMIT_MS : 0),
      record: processRecordSchema,
      failure: (why) =>
        new BridgeError(
          'SPAWN_FAILED',
          `The keeper of the process could not be started: ${why}.`,
          'Try again.',
        ),
    }).catch(async (error: unknown) => {
      if (launch.record.socket_path !== null) await rm(launch.record.socket_path, { force: true });
      throw error;
    });
    const running = await this.connect(record);
    if (running !== undefined) return running;
    // A keeper that no longer listens has written the end.
    const latest = await store.read(record.process_id);
    if (latest?.status === 'terminated')
      return new KeptProcess(new Socket().destroy(), latest, () => Promise.resolve(latest));
    throw processUnreachable(record.process_id, 'it was started, but its keeper does not accept connections');
  }

  async connect(record: ProcessRecord): Promise<RunningProcess | undefined> {
    const path = record.socket_path;
    if (path === null) return undefined;
    const socket = await openSocket(path, (why) => new Error(why)).catch(() => undefined);
    return socket && new KeptProcess(socket, record, () => this.#options.store.read(record.process_id));
  }
}
