import { rm } from 'node:fs/promises';
import { BridgeError, messageOf, ignoreBridgeError } from '../base/errors.js';
import { createProcessId, createSecret } from '../base/ids.js';
import type { Disposable } from '../base/lifecycle.js';
import type { EndMarked } from '../os/choose-processes.js';
import type { ProcessState } from '../store/process-identity.js';
import type { ProcessIdentity } from '../store/process-place.js';
import { StuckKeeper } from '../store/stuck-keeper.js';
import { processUnreachable } from './child-handle.js';
import type {
  ProcessBackend,
  ProcessKeepers,
  ProcessMode,
  ProcessSpec,
  RunningProcess,
  SpawnRequest,
} from './process-handle.js';
import { freshRecord, type ProcessRecord } from './process-record.js';
import { ProcessRun, type ProcessRunParts } from './process-run.js';

/** Ended processes are pruned at most this often: a thousand that end at the same time cost one pass. */
const PRUNE_DELAY_MS = 1_000;

export interface ProcessManagerParts extends ProcessRunParts {
  /** This program. */
  readonly owner: ProcessIdentity;
  /** Whether the server or keeper of a process still runs. */
  readonly ownerState: (owner: ProcessIdentity) => Promise<ProcessState>;
  /** The whole environment of a process on this machine. */
  readonly environment: (mark: string, extra: Readonly<Record<string, string>>) => Record<string, string>;
  /** Made for the first process that needs it, and then the same; throws BridgeError. */
  readonly backends: Readonly<Record<ProcessMode, () => Promise<ProcessBackend>>>;
  readonly keepers: ProcessKeepers;
  /** Ends everything that carries the mark; the number of what was ended. */
  readonly endMarked: EndMarked;
  /** Where the keeper of a process listens. */
  readonly socketPath: (id: string) => string;
  /** So many ended processes are kept, with at most so many bytes of output in all. */
  readonly historySize: number;
  readonly maxHistoryBytes: number;
}

/** A process as it is now; `running` is there when this server can reach it. */
export interface FoundProcess {
  readonly record: ProcessRecord;
  readonly running: RunningProcess | undefined;
}

/** All processes that this server has started, and those that are kept. */
export class ProcessManager {
  readonly #parts: ProcessManagerParts;
  readonly #running = new Map<string, RunningProcess>();
  readonly #runs = new Set<ProcessRun>();
  /** Those that were used. */
  readonly #backends = new Set<ProcessBackend>();
  #pruning: Disposable | undefined;
  #isDisposed = false;

  constructor(parts: ProcessManagerParts) {
    this.#parts = parts;
  }

  /** Throws BridgeError when it cannot be started. */
  async spawn(request: SpawnRequest): Promise<RunningProcess> {
    if (this.#isDisposed)
      throw new BridgeError(
        'SPAWN_FAILED',
        'A process was to be started, and this server is leaving.',
        'Start it again.',
      );
    const { record, spec } = this.#plan(request);
    const started = request.keep
      ? await this.#parts.keepers.launch({ record, spec })
      : await this.#start(record, spec);
    this.#hold(started);
    return started;
  }

  /** Throws PROCESS_NOT_FOUND. */
  async find(id: string): Promise<FoundProcess> {
    const running = this.#running.get(id);
    if (running !== undefined) return found(running);
    const record = await this.#parts.store.read(id);
    if (record !== undefined) return this.#settled(record);
    throw new BridgeError(
      'PROCESS_NOT_FOUND',
      `No process has the pid ${JSON.stringify(id.slice(0, 100))}.`,
      'Call ps for those that run and those that have ended; a pid is the text that spawn returned.',
    );
  }

  /** What runs and what has ended, the youngest first; those of other servers that still run are theirs. */
  async list(): Promise<FoundProcess[]> {
    return (await this.#settledAll()).filter(
      ({ record, running }) => record.status === 'terminated' || record.keep || running !== undefined,
    );
  }

  /** Ends what an ended process left behind; how much that was. */
  async endLeftBehind({ mark, owner }: ProcessRecord): Promise<number> {
    return mark === null ? 0 : this.#parts.endMarked(mark, owner.start_time ?? undefined);
  }

  /**
   * Ends a kept process whose keeper does not answer; its last record. A keeper that was halted goes on, ends its process and leaves;
   * any other is killed. Throws PROCESS_UNREACHABLE for one that may not be signalled, that the kernel holds, or that is not surely
   * the keeper.
   */
  async endStuck({ process_id: id, owner }: ProcessRecord): Promise<ProcessRecord> {
    const hint = `End process ${owner.pid} by hand if it is one of yours; then ps gives this one its end.`;
    const keeper = new StuckKeeper({
      keeper: owner,
      clock: this.#parts.clock,
      cannotEnd: (why) => processUnreachable(id, why, hint),
    });
    if ((await keeper.wake()) && !(await keeper.leaves())) await keeper.kill();
    // Its connection closes with it.
    await this.#running.get(id)?.ended;
    return (await this.find(id)).record;
  }

  /** Gives processes of servers that are gone their end, and drops what is too old or too much. */
  async sweep(): Promise<void> {
    await this.#settledAll();
    await this.#prune();
  }

  /** Ends all processes that are not to be kept. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    this.#pruning?.dispose();
    await Promise.all([...this.#backends].map((one) => one.dispose()));
    await Promise.all(
      [...this.#runs].map(async (run) => {
        await run.ended;
        run.dispose();
        await run.recorded;
      }),
    );
  }

  #plan(request: SpawnRequest): { readonly record: ProcessRecord; readonly spec: ProcessSpec } {
    const { owner, clock, environment, socketPath } = this.#parts;
    const id = createProcessId();
    const { mode, command, cwd, env, tty } = request;
    const mark = mode === 'host' ? createSecret() : null;
    const record: ProcessRecord = {
      ...freshRecord,
      process_id: id,
      mode,
      command_line: request.commandLine,
      cwd,
      tty: tty ?? null,
      keep: request.keep,
      owner,
      mark,
      socket_path: request.keep ? socketPath(id) : null,
      started_at: new Date(clock.now()).toISOString(),
    };
    const whole = mark === null ? env : environment(mark, env);
    const { keep: _keep, commandLine: _line, mode: _mode, ...rest } = request;
    return { record, spec: { ...rest, id, command, cwd, env: whole, ...(tty && { tty }) } };
  }

  async #start(record: ProcessRecord, spec: ProcessSpec): Promise<RunningProcess> {
    const backend = await this.#backend(record.mode);
    const run = await ProcessRun.start(this.#parts, record, (sink) => backend.spawn(spec, sink));
    this.#runs.add(run);
    void run.recorded.then(() => this.#runs.delete(run));
    return run;
  }

  async #backend(mode: ProcessMode): Promise<ProcessBackend> {
    const backend = await this.#parts.backends[mode]();
    this.#backends.add(backend);
    // A call that waited for it while this server left.
    if (this.#isDisposed) await backend.dispose();
    return backend;
  }

  #hold(running: RunningProcess): void {
    const { process_id: id } = running.record;
    this.#running.set(id, running);
    void running.recorded.then(() => {
      this.#running.delete(id);
      this.#pruneSoon();
    });
  }

  /** The record as it is now: its keeper may be gone, and with it the process. */
  async #settled(record: ProcessRecord): Promise<FoundProcess> {
    return (await this.#held(record)) ?? this.#settle(record);
  }

  async #settledAll(): Promise<FoundProcess[]> {
    return Promise.all((await this.#parts.store.all()).map((record) => this.#settled(record)));
  }

  /** Undefined when it should run, but its server or keeper is gone. */
  async #held(record: ProcessRecord): Promise<FoundProcess | undefined> {
    const own = this.#running.get(record.process_id);
    if (own !== undefined) return found(own);
    if (record.status === 'terminated') return { record, running: undefined };
    if (record.keep) {
      const running = await this.#parts.keepers.connect(record);
      if (running !== undefined) {
        this.#hold(running);
        return found(running);
      }
      // A keeper that leaves listens no more, and has written the end.
      const latest = await this.#parts.store.read(record.process_id);
      if (latest?.status === 'terminated') return { record: latest, running: undefined };
    }
    return (await this.#parts.ownerState(record.owner)) === 'gone'
      ? undefined
      : { record, running: undefined };
  }

  async #settle(record: ProcessRecord): Promise<FoundProcess> {
    const { store, clock } = this.#parts;
    // Its end may have been written since the record was read.
    const latest = (await store.read(record.process_id)) ?? record;
    if (latest.status === 'terminated') return { record: latest, running: undefined };
    await this.endLeftBehind(latest);
    if (latest.mode === 'docker') (await this.#backend('docker')).sweepSoon?.();
    if (latest.socket_path !== null) await rm(latest.socket_path, { force: true });
    const settled: ProcessRecord = {
      ...latest,
      status: 'terminated',
      reason: `The ${latest.keep ? 'keeper of the process' : 'server that had started it'} is gone; what was left of it was ended.`,
      ended_at: new Date(clock.now()).toISOString(),
    };
    // A full disk hides nothing: the next one that asks writes it.
    await store.write(settled).catch(ignoreBridgeError);
    return { record: settled, running: undefined };
  }

  #pruneSoon(): void {
    if (this.#isDisposed) return;
    this.#pruning ??= this.#parts.clock.after(PRUNE_DELAY_MS, () => {
      this.#pruning = undefined;
      this.#prune().catch((error: unknown) =>
        this.#parts.logger.warn('ended processes could not be removed', { error: messageOf(error) }),
      );
    });
  }

  /** The newest ended ones stay, up to their number and their size. */
  async #prune(): Promise<void> {
    const { store, historySize, maxHistoryBytes } = this.#parts;
    const ended = (await store.all())
      .filter(({ status }) => status === 'terminated')
      .sort((a, b) => ((a.ended_at ?? '') < (b.ended_at ?? '') ? 1 : -1));
    let bytes = 0;
    for (const [index, { process_id: id }] of ended.entries()) {
      bytes += await store.size(id);
      // The newest is there to be read, however much it printed.
      if (index > 0 && (index >= historySize || bytes > maxHistoryBytes)) await store.remove(id);
    }
  }
}

function found(running: RunningProcess): FoundProcess {
  const { record } = running;
  return { record, running: record.status === 'running' ? running : undefined };
}
