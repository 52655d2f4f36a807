// Pure.
import type { Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { TaskRecord } from '../task.js';
import type { TaskHost, TaskLink } from '../task-host.js';

/**
 * For all active tasks: how often new ones are looked for, since another server may start one. For one task: how soon it is
 * read once more when its keeper is not there, or no longer.
 */
const LOOK_INTERVAL_MS = 1_000;
/** For one task: how often one without a keeper is read, since another process may start it, and a session goes on. */
const UNKEPT_INTERVAL_MS = 500;

export interface TaskWatchOptions {
  readonly host: TaskHost;
  readonly clock: Clock;
  /** True when one task is followed to its end; false when new ones are looked for again and again. */
  readonly isOne: boolean;
  /** The unfinished records to follow. */
  readonly records: () => Promise<TaskRecord[]>;
  /** `changeSeq` is what the keeper's record has; undefined when whatever has become of the task must be read. */
  readonly onChange: (taskId: string, changeSeq?: number) => void;
}

/** Follows tasks over their keepers' sockets, and says when something changed. */
export class TaskWatch implements Disposable {
  readonly #options: TaskWatchOptions;
  readonly #links = new Map<string, TaskLink | 'connecting'>();
  /** The `change_seq` of each task without a keeper: a queued one, or a session that a person started. */
  readonly #unkept = new Map<string, number>();
  #hasLooked = false;
  #timer: Disposable | undefined;
  #isDisposed = false;

  constructor(options: TaskWatchOptions) {
    this.#options = options;
    void this.#check();
  }

  /** Looks now, and not only when the time has come. */
  check(): void {
    this.#timer?.dispose();
    void this.#check();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.dispose();
    for (const link of this.#links.values()) if (link !== 'connecting') link.dispose();
    this.#links.clear();
  }

  async #check(): Promise<void> {
    let isUnkept = false;
    let isFollowed = false;
    try {
      const records = await this.#options.records();
      for (const { task_id, change_seq } of records.filter(({ keeper }) => keeper === null)) {
        isUnkept = true;
        const before = this.#unkept.get(task_id);
        this.#unkept.set(task_id, change_seq);
        // What is there at the first look was there before the watch.
        const isNews = before === undefined ? this.#hasLooked && !this.#options.isOne : before !== change_seq;
        if (isNews) this.#options.onChange(task_id, change_seq);
      }
      this.#hasLooked = true;
      const running = records.filter(({ keeper }) => keeper !== null);
      const follows = await Promise.all(running.map((record) => this.#follow(record)));
      isFollowed = !follows.includes(false);
      this.#tellLeft(records);
    } catch {
      // The state directory cannot be reached now: a reader of the task gets the reason, and the next check tries again.
    }
    const { isOne } = this.#options;
    if (isOne && isFollowed && !isUnkept) return;
    this.#lookAfter(isOne && isUnkept ? UNKEPT_INTERVAL_MS : LOOK_INTERVAL_MS);
  }

  #lookAfter(intervalMs: number): void {
    if (this.#isDisposed) return;
    this.#timer?.dispose();
    this.#timer = this.#options.clock.after(intervalMs, () => void this.#check());
  }

  /** Tells of the tasks that had no keeper and have one, or an end. */
  #tellLeft(records: readonly TaskRecord[]): void {
    for (const taskId of this.#unkept.keys()) {
      if (records.some((record) => record.task_id === taskId && record.keeper === null)) continue;
      this.#unkept.delete(taskId);
      this.#options.onChange(taskId);
    }
  }

  /** False when its keeper cannot be reached now. */
  async #follow(record: TaskRecord): Promise<boolean> {
    const taskId = record.task_id;
    if (this.#links.has(taskId) || this.#isDisposed) return true;
    this.#links.set(taskId, 'connecting');
    const { isOne, onChange } = this.#options;
    const link = await this.#connect(record);
    if (link === undefined || this.#isDisposed) {
      this.#links.delete(taskId);
      link?.dispose();
      if (!this.#isDisposed) onChange(taskId);
      return false;
    }
    this.#links.set(taskId, link);
    link.onDidChange((changeSeq) => onChange(taskId, changeSeq));
    link.onDidClose(() => {
      if (this.#isDisposed) return;
      this.#links.delete(taskId);
      link.dispose();
      onChange(taskId);
      // Most have ended; one that only hung up goes on.
      if (isOne) this.#lookAfter(LOOK_INTERVAL_MS);
    });
    return true;
  }

  async #connect(record: TaskRecord): Promise<TaskLink | undefined> {
    try {
      return await this.#options.host.connect(record);
    } catch {
      // It does not answer now: a reader of the task gets the reason, and the next check tries again.
      return undefined;
    }
  }
}
