import { mkdir } from 'node:fs/promises';
import type { Clock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import { PROCESS_ID_PATTERN } from '../base/ids.js';
import { DisposableStore, type Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import type { ProcessRecord } from '../processes/process-record.js';
import type { ProcessState } from '../store/process-identity.js';
import type { ProcessIdentity } from '../store/process-place.js';
import { Refresher } from './refresher.js';
import type { ProcessCard } from './state.js';
import { watchFolder } from './watch-folder.js';

/** The newest processes; ended ones go by themselves after a while. */
const MAX_PROCESSES = 200;
/** Whoever runs a process may be killed, and then writes nothing. */
const LOOK_MS = 2_000;
const OWNER_ONLY = 0o700;

export interface ProcessFeedOptions {
  readonly processes: ProcessSource;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly changed: () => void;
}

/** The processes of the state directory. */
export interface ProcessSource {
  readonly path: string;
  all(): Promise<ProcessRecord[]>;
  ownerState(owner: ProcessIdentity): Promise<ProcessState>;
}

/** Every process of the state directory, as it starts, ends and is removed. */
export class ProcessFeed implements Disposable {
  readonly #options: ProcessFeedOptions;
  readonly #owned = new DisposableStore();
  readonly #watched = new Map<string, Disposable>();
  readonly #refresher: Refresher;
  #cards: readonly ProcessCard[] = [];
  #next: Disposable | undefined;

  constructor(options: ProcessFeedOptions) {
    this.#options = options;
    this.#refresher = this.#owned.add(new Refresher(options.clock, () => this.#refresh()));
  }

  /** `process/<id>`. */
  get values(): readonly (readonly [string, unknown])[] {
    return this.#cards.map((card) => [`process/${card.process_id}`, card] as const);
  }

  async start(): Promise<void> {
    const { processes, logger } = this.#options;
    const { path } = processes;
    // The first process may come later.
    await mkdir(path, { recursive: true, mode: OWNER_ONLY });
    await this.#refresh();
    if (this.#owned.isDisposed) return;
    const watching = watchFolder(
      path,
      (name) => {
        if (name === null || !PROCESS_ID_PATTERN.test(name)) return;
        // It came, and its record comes in a moment; or it is gone.
        this.#leave(name);
        this.#follow(name);
        this.#refresher.changed();
      },
      logger,
    );
    this.#owned.add(watching);
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
      this.#take(cards);
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

  #take(cards: readonly ProcessCard[]): void {
    const running = new Set(
      cards.filter(({ status }) => status === 'running').map((card) => card.process_id),
    );
    for (const id of running) this.#follow(id);
    for (const { process_id: id } of [...this.#cards, ...cards]) if (!running.has(id)) this.#leave(id);
    this.#cards = cards;
    this.#options.changed();
  }

  /** Its record changes in its own folder. */
  #follow(id: string): void {
    if (this.#watched.has(id)) return;
    const { processes, logger } = this.#options;
    const changed = (name: string | null): void => {
      if (name === 'record.json') this.#refresher.changed();
    };
    this.#watched.set(id, watchFolder(`${processes.path}/${id}`, changed, logger));
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
}
