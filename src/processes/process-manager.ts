import { rm } from 'node:fs/promises';
import { z } from 'zod';
import { withinMs } from '../base/clock.js';
import { BridgeError, messageOf, ignoreBridgeError } from '../base/errors.js';
import { createProcessId, createSecret } from '../base/ids.js';
import type { EndMarked } from '../os/choose-processes.js';
import type { ProcessState } from '../store/process-identity.js';
import { processIdentitySchema, type ProcessIdentity } from '../store/process-place.js';
import { isMade } from '../store/requests.js';
import { keeperLeaves, killKeeper, signalKeeper } from '../store/stuck-keeper.js';
import {
  notRunning,
  type ProcessBackend,
  type ProcessKeepers,
  type ProcessMode,
  processUnreachable,
  type RunningProcess,
  type SpawnRequest,
} from './process-handle.js';
import { freshRecord, type ProcessRecord } from './process-record.js';
import { ProcessRun, type ProcessRunParts } from './process-run.js';

/** Any signal may end a process. The answer reports an end within this time. */
const AFTER_SIGNAL_MS = 250;
/** Signals that ask a process to end: the ladder climbs on from them. */
const ENDING: ReadonlySet<string> = new Set(['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGKILL']);

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
  /** So many ended processes stay, with at most so many bytes of output in all. */
  readonly historySize: number;
  readonly maxHistoryBytes: number;
}

/** A process that a server began to start, and its keeper, if any. */
export const begunSpawnSchema = z.object({ pid: z.string(), keeper: processIdentitySchema.optional() });
type BegunSpawn = z.infer<typeof begunSpawnSchema>;

/** A process as it is now; `running` is there when this server can reach it. */
export interface FoundProcess {
  readonly record: ProcessRecord;
  readonly running: RunningProcess | undefined;
}

export interface KillOutcome {
  readonly record: ProcessRecord;
  /** Processes that the system did not let go. */
  readonly left: number;
  /** What an ended process had left behind, and is gone now. */
  readonly leftBehind: number;
}

/** All processes that this server has started, and those that are kept. */
export class ProcessManager {
  readonly #parts: ProcessManagerParts;
  readonly #running = new Map<string, RunningProcess>();
  /** Those that were used. */
  readonly #backends = new Set<ProcessBackend>();
  #pruning: Promise<void> | undefined;
  #isDisposed = false;

  constructor(parts: ProcessManagerParts) {
    this.#parts = parts;
  }

  /** Throws BridgeError when it cannot be started. `note` gets what `isBegun` needs, before anything is made. */
  async spawn(request: SpawnRequest, note?: (begun: BegunSpawn) => Promise<void>): Promise<RunningProcess> {
    if (this.#isDisposed)
      throw new BridgeError(
        'SPAWN_FAILED',
        'A process was to be started, and this server is leaving.',
        'Start it again.',
      );
    this.#pruneSoon();
    const { owner, clock, environment, socketPath, keepers } = this.#parts;
    const { mode, commandLine, keep, ...wanted } = request;
    const id = createProcessId();
    const mark = mode === 'host' ? createSecret() : null;
    const record: ProcessRecord = {
      ...freshRecord,
      process_id: id,
      mode,
      command_line: commandLine,
      cwd: wanted.cwd,
      tty: wanted.tty ?? null,
      keep,
      owner,
      mark,
      socket_path: keep ? socketPath(id) : null,
      started_at: new Date(clock.now()).toISOString(),
    };
    await note?.({ pid: id });
    const spec = { ...wanted, id, env: mark === null ? wanted.env : environment(mark, wanted.env) };
    const started = keep
      ? await keepers.keep({ record, spec, onKeeper: note && ((keeper) => note({ pid: id, keeper })) })
      : await ProcessRun.start(this.#parts, record, async (sink) =>
          (await this.#backend(mode)).spawn(spec, sink),
        );
    this.#hold(started);
    return started;
  }

  /** Whether a process that a dead server began to start has a record, or gets one. Throws OUTCOME_UNKNOWN. */
  isBegun({ pid, keeper }: BegunSpawn): Promise<boolean> {
    const { clock, store, ownerState } = this.#parts;
    // A keeper that was not noted got nothing to run.
    const isKept = async () => keeper !== undefined && (await ownerState(keeper)) !== 'gone';
    return isMade(clock, isKept, async () => (await store.read(pid)) !== undefined);
  }

  /** Throws PROCESS_NOT_FOUND. */
  async find(id: string): Promise<FoundProcess> {
    const record = this.#running.get(id)?.record ?? (await this.#parts.store.read(id));
    if (record !== undefined) return this.#settled(record);
    throw new BridgeError(
      'PROCESS_NOT_FOUND',
      `No process has the pid ${JSON.stringify(id.slice(0, 100))}.`,
      'Call ps for those that run and those that have ended; a pid is the text that spawn returned.',
    );
  }

  /** As `find`; throws PROCESS_NOT_RUNNING or PROCESS_UNREACHABLE for one that this server cannot reach. */
  async reach(id: string): Promise<RunningProcess> {
    const { record, running } = await this.find(id);
    if (running === undefined) throw unreached(record);
    return running;
  }

  /** Where its output is. */
  folder(id: string): string {
    return this.#parts.store.folder(id);
  }

  /** What runs, the youngest first, then what has ended, the last first; those of other servers that still run are theirs. */
  async list(): Promise<FoundProcess[]> {
    const all = await Promise.all((await this.#parts.store.all()).map((record) => this.#settled(record)));
    const running = all.filter(
      (one) => one.record.status === 'running' && (one.record.keep || one.running !== undefined),
    );
    const ended = lastEnded(all.map(({ record }) => record));
    return [...running, ...ended.map((record) => ({ record, running: undefined }))];
  }

  /** Signals the whole tree. A signal that asks for the end is followed by harder ones until nothing is left. */
  async kill(id: string, name: NodeJS.Signals): Promise<KillOutcome> {
    const { record, running } = await this.find(id);
    if (running === undefined) {
      if (ENDING.has(name) && record.keep && record.status === 'running') return this.#endStuck(record);
      const leftBehind = record.status === 'terminated' ? await this.#endMarked(record) : 0;
      if (leftBehind === 0) throw unreached(record);
      return { record, left: 0, leftBehind };
    }
    if (!ENDING.has(name)) {
      await running.signal(name);
      await withinMs(this.#parts.clock, AFTER_SIGNAL_MS, running.ended);
      return { record: running.record, left: 0, leftBehind: 0 };
    }
    try {
      const left = await running.kill(name);
      return { record: running.record, left, leftBehind: 0 };
    } catch (error) {
      if (error instanceof BridgeError && error.code === 'PROCESS_UNREACHABLE') return this.#endStuck(record);
      throw error;
    }
  }

  /** Gives processes of servers that are gone their end, and drops what is too old or too much. */
  async sweep(): Promise<void> {
    await this.list();
    await this.#prune();
  }

  /** Ends all processes that are not to be kept. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await Promise.all([...this.#backends].map((one) => one.dispose()));
    await Promise.all(
      [...this.#running.values()].map(async (run) => {
        if (!(run instanceof ProcessRun)) return;
        await run.ended;
        run.dispose();
        await run.recorded;
      }),
    );
    await this.#pruning;
  }

  /**
   * Ends a kept process whose keeper does not answer. A keeper that was halted goes on, ends its process and leaves; any other is
   * killed. Throws PROCESS_UNREACHABLE for one that may not be signalled, that the kernel holds, or that is not surely the keeper.
   */
  async #endStuck({ process_id: id, owner }: ProcessRecord): Promise<KillOutcome> {
    const hint = `End process ${owner.pid} by hand if it is one of yours; then ps gives this one its end.`;
    const cannotEnd = (why: string) => processUnreachable(id, why, hint);
    const stuck = { keeper: owner, clock: this.#parts.clock, cannotEnd };
    if ((await signalKeeper(stuck, 'SIGCONT')) && !(await keeperLeaves(stuck))) await killKeeper(stuck);
    // Its connection closes with it.
    await this.#running.get(id)?.ended;
    return { record: (await this.find(id)).record, left: 0, leftBehind: 0 };
  }

  /** Ends what a process left behind; how much that was. */
  async #endMarked({ mark, owner }: ProcessRecord): Promise<number> {
    return mark === null ? 0 : this.#parts.endMarked(mark, owner.start_time ?? undefined);
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
    void running.recorded.then(() => this.#running.delete(id));
  }

  /** The record as it is now: its server or keeper may be gone, and with it the process. */
  async #settled(record: ProcessRecord): Promise<FoundProcess> {
    const { store, keepers, ownerState } = this.#parts;
    const own = this.#running.get(record.process_id);
    if (own !== undefined) return found(own);
    if (record.status === 'terminated') return { record, running: undefined };
    const running = record.keep ? await keepers.reach(record) : undefined;
    if (running !== undefined) {
      this.#hold(running);
      return found(running);
    }
    const isGone = (await ownerState(record.owner)) === 'gone';
    // A keeper that leaves listens no more, and has written the end.
    const latest = (await store.read(record.process_id)) ?? record;
    if (latest.status === 'terminated' || !isGone) return { record: latest, running: undefined };
    return { record: await this.#end(latest), running: undefined };
  }

  /** The record of a process whose server or keeper is gone, with its end. */
  async #end(record: ProcessRecord): Promise<ProcessRecord> {
    await this.#endMarked(record);
    if (record.mode === 'docker') (await this.#backend('docker')).sweepSoon?.();
    if (record.socket_path !== null) await rm(record.socket_path, { force: true });
    const ended: ProcessRecord = {
      ...record,
      status: 'terminated',
      reason: `The ${record.keep ? 'keeper of the process' : 'server that had started it'} is gone; what was left of it was ended.`,
      ended_at: new Date(this.#parts.clock.now()).toISOString(),
    };
    // A full disk hides nothing: the next one that asks writes it.
    await this.#parts.store.write(ended).catch(ignoreBridgeError);
    return ended;
  }

  #pruneSoon(): void {
    this.#pruning ??= this.#prune()
      .catch((error: unknown) =>
        this.#parts.logger.warn('ended processes could not be removed', { error: messageOf(error) }),
      )
      .finally(() => (this.#pruning = undefined));
  }

  /** The newest ended ones stay, up to their number and their size. */
  async #prune(): Promise<void> {
    const { store, historySize, maxHistoryBytes } = this.#parts;
    let bytes = 0;
    for (const [index, { process_id: id }] of lastEnded(await store.all()).entries()) {
      bytes += await store.size(id);
      // The newest is there to be read, however much it printed.
      if (index > 0 && (index >= historySize || bytes > maxHistoryBytes)) await store.remove(id);
    }
  }
}

/** Those that have ended, the last first. */
function lastEnded(records: readonly ProcessRecord[]): ProcessRecord[] {
  return records
    .filter(({ status }) => status === 'terminated')
    .toSorted((a, b) => ((a.ended_at ?? '') < (b.ended_at ?? '') ? 1 : -1));
}

function found(running: RunningProcess): FoundProcess {
  const { record } = running;
  return { record, running: record.status === 'running' ? running : undefined };
}

function unreached({ process_id: id, status, keep }: ProcessRecord): BridgeError {
  if (status === 'terminated') return notRunning(id);
  if (keep) return processUnreachable(id, 'its keeper runs, and takes no connection');
  return new BridgeError(
    'PROCESS_NOT_RUNNING',
    `The process ${id} belongs to another server, which runs.`,
    'Its output can be read; only that server gives it input or ends it.',
  );
}
