import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import type { KeptContainers } from '../processes/docker/kept-containers.js';
import type { KeptLaunch, ProcessKeepers } from '../processes/process-keepers.js';
import type { ProcessRecord } from '../processes/process-record.js';
import type { ProcessStore } from '../processes/process-store.js';
import { err, ok, type Result } from '../processes/result.js';
import type { RunningProcess } from '../processes/running-process.js';
import { KeptProcess } from './kept-process.js';
import { keptReadySchema } from './process-messages.js';
import { READY_LIMIT_MS, readyLine } from './ready-line.js';

const MAX_READY_BYTES = 256 * 1024;
/** An engine that is busy takes up to a minute to start a container. */
const CONTAINER_LIMIT_MS = 60_000;

export interface ProcessKeeperHostOptions {
  /** The program that keeps one process (`dist/process-keeper.js`), run by this Node. */
  readonly keeperEntry: string;
  readonly nodeArguments: readonly string[];
  readonly statePath: string;
  readonly store: ProcessStore;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Shell of the wrapper around a program in a terminal. */
  readonly shell: string;
  readonly maxOutputBytes: number;
  readonly containers: KeptContainers;
}

/** Gives each process that is to be kept a small process of its own, which outlives this one. */
export class ProcessKeeperHost implements ProcessKeepers {
  readonly #options: ProcessKeeperHostOptions;
  readonly #links = new Set<KeptProcess>();

  constructor(options: ProcessKeeperHostOptions) {
    this.#options = options;
  }

  async launch(launch: KeptLaunch): Promise<Result<RunningProcess>> {
    const ready = await this.#start(launch);
    if (!ready.ok) return ready;
    const running = await this.connect(ready.value);
    if (running !== undefined) return ok(running);
    return err('SPAWN_FAILED', 'The keeper of the process ended at once.', 'See ps for what became of it.');
  }

  async connect(record: ProcessRecord): Promise<RunningProcess | undefined> {
    const link = await KeptProcess.connect(record, () => this.#options.store.read(record.process_id));
    if (link === undefined) return undefined;
    this.#links.add(link);
    void link.ended.then(() => this.#links.delete(link));
    return link;
  }

  async clear({ socket_path: socketPath }: ProcessRecord): Promise<void> {
    if (socketPath !== null) await rm(socketPath, { force: true });
  }

  dispose(): void {
    for (const link of this.#links) link.dispose();
  }

  /** The launch goes through a pipe: its environment may hold secrets, and is neither written to disk nor seen in a list. */
  async #start(launch: KeptLaunch): Promise<Result<ProcessRecord>> {
    const { keeperEntry, nodeArguments, statePath, env, shell, maxOutputBytes, containers } = this.#options;
    const isContainer = launch.record.mode === 'docker';
    const child = spawn(
      process.execPath,
      [...nodeArguments, keeperEntry, launch.record.process_id, statePath],
      { detached: true, cwd: statePath, env, stdio: ['pipe', 'ignore', 'ignore', 'pipe'] },
    );
    const limitMs = READY_LIMIT_MS + (isContainer ? CONTAINER_LIMIT_MS : 0);
    const saying = readyLine(child, MAX_READY_BYTES, limitMs);
    // A keeper that died before it read this is told by its silence.
    child.stdin?.on('error', () => undefined);
    const where = isContainer ? { containers } : {};
    child.stdin?.end(JSON.stringify({ ...launch, ...where, shell, maxOutputBytes }));
    const line = await saying;
    const ready = line.kind === 'said' ? readyIn(line.text) : undefined;
    if (ready !== undefined) return ready;
    const why = line.kind === 'failed' ? line.why : 'it ended at once';
    await this.clear(launch.record);
    return err('SPAWN_FAILED', `The keeper of the process could not be started: ${why}.`, 'Try again.');
  }
}

function readyIn(text: string): Result<ProcessRecord> | undefined {
  try {
    const ready = keptReadySchema.parse(JSON.parse(text));
    return 'fault' in ready ? { ok: false, fault: ready.fault } : ok(ready.record);
  } catch {
    // It said nothing, or something else: the caller tells.
    return undefined;
  }
}
