import { watch, type FSWatcher } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { Clock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import { PROCESS_ID_PATTERN } from '../base/ids.js';
import { DisposableStore, toDisposable, type Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import type { ProcessRecord } from '../processes/process-record.js';
import type { ProcessState } from '../store/process-identity.js';
import type { ProcessIdentity } from '../store/process-place.js';
import { Refresher } from './refresher.js';
import type { BoardAction, ProcessCard } from './state.js';

/** The newest processes; ended ones go by themselves after a while. */
const MAX_PROCESSES = 200;
/** Whoever runs a process may be killed, and then writes nothing. */
const LOOK_MS = 2_000;
const OWNER_ONLY = 0o700;

export interface ProcessFeedOptions {
  readonly processes: ProcessSource;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The processes of the state directory. */
export interface ProcessSource {
  readonly path: string;
  all(): Promise<ProcessRecord[]>;
  ownerState(owner: ProcessIdentity): Promise<ProcessState>;
}

/** Tells of every process of the state directory as it starts, ends and is removed. */
export class ProcessFeed implements Disposable {
  readonly #options: ProcessFeedOptions;
  readonly #dispatch: (action: BoardAction) => void;
  readonly #owned = new DisposableStore();
  readonly #watched = new Map<string, Disposable>();
  readonly #refresher: Refresher;
  #known = new Map<string, ProcessCard>();
  #next: Disposable | undefined;

  constructor(options: ProcessFeedOptions, dispatch: (action: BoardAction) => void) {
    this.#options = options;
    this.#dispatch = dispatch;
    this.#refresher = this.#owned.add(new Refresher(options.clock, () => this.#refresh()));
  }

  async start(): Promise<void> {
    const { path } = this.#options.processes;
    // The first process may come later.
    await mkdir(path, { recursive: true, mode: OWNER_ONLY });
    await this.#refresh();
    if (this.#owned.isDisposed) return;
    const watching = this.#watch(path, (name) => {
      if (!PROCESS_ID_PATTERN.test(name)) return;
      // It came, and its record comes in a moment; or it is gone.
      this.#leave(name);
      this.#follow(name);
      this.#refresher.changed();
    });
    if (watching !== undefined) this.#owned.add(watching);
  }

  dispose(): void {
    this.#next?.dispose();
    this.#owned.dispose();
    for (const watching of this.#watched.values()) watching.dispose();
    this.#watched.clear();
  }

  async #refresh(): Promise<void> {
    const { processes, logger } = this.#options;
    try {
      const records = (await processes.all()).slice(0, MAX_PROCESSES);
      const cards = await Promise.all(records.map((record) => this.#cardOf(record)));
      if (this.#owned.isDisposed) return;
      this.#tell(new Map(cards.map((card) => [card.process_id, card])));
    } catch (error) {
      logger.warn('The processes cannot be read', { error: messageOf(error) });
    }
    this.#lookAgain();
  }

  async #cardOf(record: ProcessRecord): Promise<ProcessCard> {
    const isLost =
      record.status === 'running' && (await this.#options.processes.ownerState(record.owner)) === 'gone';
    const { process_id, command_line, cwd, mode, keep, exit_code, signal, started_at, ended_at } = record;
    return {
      process_id,
      command_line,
      cwd,
      mode,
      keep,
      status: isLost ? 'lost' : record.status,
      exit_code,
      signal,
      reason: isLost ? 'Whoever ran it is gone.' : record.reason,
      started_at,
      ended_at,
    };
  }

  #tell(cards: Map<string, ProcessCard>): void {
    for (const [id, process] of cards) {
      if (JSON.stringify(this.#known.get(id)) !== JSON.stringify(process))
        this.#dispatch({ type: 'process.upserted', process });
      if (process.status === 'running') this.#follow(id);
      else this.#leave(id);
    }
    for (const process_id of this.#known.keys()) {
      if (cards.has(process_id)) continue;
      this.#leave(process_id);
      this.#dispatch({ type: 'process.removed', process_id });
    }
    this.#known = cards;
  }

  /** Its record changes in its own folder. */
  #follow(id: string): void {
    if (this.#watched.has(id)) return;
    const watching = this.#watch(`${this.#options.processes.path}/${id}`, (name) => {
      if (name === 'record.json') this.#refresher.changed();
    });
    if (watching !== undefined) this.#watched.set(id, watching);
  }

  #leave(id: string): void {
    this.#watched.get(id)?.dispose();
    this.#watched.delete(id);
  }

  #lookAgain(): void {
    this.#next?.dispose();
    if (this.#owned.isDisposed || this.#watched.size === 0) return;
    this.#next = this.#options.clock.after(LOOK_MS, () => this.#refresher.changed());
  }

  /** Undefined where the system cannot watch it, or it is not there. */
  #watch(path: string, onName: (name: string) => void): Disposable | undefined {
    let watcher: FSWatcher;
    try {
      watcher = watch(path, { persistent: false }, (_event, name) => {
        if (name !== null) onName(name);
      });
    } catch (error) {
      this.#options.logger.debug('A folder of processes is not watched', { error: messageOf(error) });
      return undefined;
    }
    // A folder that was removed: the folder above tells.
    watcher.on('error', () => watcher.close());
    return toDisposable(() => watcher.close());
  }
}
