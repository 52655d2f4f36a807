// Pure.
import type { Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import type { KeptTask, Stay } from './server-presence.js';

/** Checks within the time that a task waits for a server, so that some may fail. */
const CHECKS_IN_GRACE = 4;
/** The longest time between two checks. */
const MAX_INTERVAL_MS = 2_000;
/** Stands for the list of tasks among the ids of tasks; no task has this id. */
const FOLDER = '';

export interface TaskJoinerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The tasks that have a keeper now. */
  readonly tasks: () => Promise<readonly KeptTask[]>;
  readonly stay: (task: KeptTask) => Promise<Stay>;
  /** How long a task goes on without a server. */
  readonly graceSeconds: number;
}

/**
 * Stays with every task that needs a server, also with those that another process starts: the keeper of a task starts the next one
 * in the queue. Checks regularly; a task that could not be reached is tried again.
 */
export class TaskJoiner implements Disposable {
  readonly #options: TaskJoinerOptions;
  readonly #asking = new Set<string>();
  /** Tasks that need no server. */
  readonly #free = new Set<string>();
  /** What failed at the last try: a task, or FOLDER. Logged once, and again after it has worked meanwhile. */
  readonly #failing = new Set<string>();
  #timer: Disposable | undefined;
  #isDisposed = false;

  constructor(options: TaskJoinerOptions) {
    this.#options = options;
    void this.#check();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.dispose();
  }

  async #check(): Promise<void> {
    const { clock, tasks, graceSeconds } = this.#options;
    try {
      const found = await tasks();
      const ids = new Set(found.map(({ task_id }) => task_id));
      this.#failing.delete(FOLDER);
      for (const known of [this.#free, this.#failing])
        for (const id of known) if (!ids.has(id)) known.delete(id);
      for (const task of found) void this.#join(task);
    } catch (error) {
      this.#logOnce(FOLDER, error);
    }
    if (this.#isDisposed) return;
    const intervalMs = Math.min(MAX_INTERVAL_MS, (graceSeconds * 1000) / CHECKS_IN_GRACE);
    this.#timer = clock.after(intervalMs, () => void this.#check());
  }

  async #join(task: KeptTask): Promise<void> {
    const id = task.task_id;
    if (this.#isDisposed || this.#asking.has(id) || this.#free.has(id)) return;
    this.#asking.add(id);
    try {
      if ((await this.#options.stay(task)) === 'not-needed') this.#free.add(id);
      this.#failing.delete(id);
    } catch (error) {
      this.#logOnce(id, error);
    } finally {
      this.#asking.delete(id);
    }
  }

  #logOnce(what: string, error: unknown): void {
    if (!this.#failing.has(what) && !this.#isDisposed)
      this.#options.logger.warn('running tasks could not be joined', { error: messageOf(error) });
    this.#failing.add(what);
  }
}
