import { rm } from 'node:fs/promises';
import { BridgeError } from '../../base/errors.js';
import type { KeptLaunch, ProcessKeepers, RunningProcess } from '../../processes/running-process.js';
import { processRecordSchema, type ProcessRecord } from '../../processes/process-record.js';
import type { ProcessStore } from '../../processes/process-store.js';
import { processUnreachable } from '../../processes/end-keeper.js';
import type { KeptLaunch as KeptMessage } from '../wire/process-messages.js';
import { KeptProcess } from './kept-process.js';
import { launchKeeper, READY_LIMIT_MS, type KeeperProgram } from './launch-keeper.js';

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
  readonly #links = new Set<KeptProcess>();

  constructor(options: ProcessKeeperHostOptions) {
    this.#options = options;
  }

  async launch(launch: KeptLaunch): Promise<RunningProcess> {
    const record = await this.#start(launch);
    const running = await this.connect(record);
    if (running !== undefined) return running;
    // A keeper that no longer listens has written the end.
    const latest = await this.#options.store.read(record.process_id);
    if (latest?.status === 'terminated') return KeptProcess.ended(latest);
    throw processUnreachable(record.process_id, 'it was started, but its keeper does not accept connections');
  }

  async connect(record: ProcessRecord): Promise<RunningProcess | undefined> {
    const link = await KeptProcess.connect(record, () => this.#options.store.read(record.process_id));
    if (link === undefined) return undefined;
    this.#links.add(link);
    void link.recorded.then(() => this.#links.delete(link));
    return link;
  }

  async clear({ socket_path: socketPath }: ProcessRecord): Promise<void> {
    if (socketPath !== null) await rm(socketPath, { force: true });
  }

  dispose(): void {
    for (const link of this.#links) link.dispose();
  }

  async #start(launch: KeptLaunch): Promise<ProcessRecord> {
    const { shell, maxOutputBytes, containers } = this.#options;
    const isContainer = launch.record.mode === 'docker';
    try {
      return await launchKeeper(this.#options, {
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
      });
    } catch (error) {
      await this.clear(launch.record);
      throw error;
    }
  }
}
