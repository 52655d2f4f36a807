import type { Clock } from '../base/clock.js';
import { DisposableStore, type Disposable } from '../base/lifecycle.js';
import type { TaskRecord } from './task.js';
import type { TaskHost, TaskLink } from './task-host.js';

/** For all active tasks: how often new ones are looked for, since another server may start one. */
const LOOK_INTERVAL_MS = 1_000;
/** For one task: how often a queued one is looked at, since another process may start it. */
const QUEUED_INTERVAL_MS = 500;

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
  readonly #owned = new DisposableStore();
  readonly #links = new Map<string, TaskLink | 'connecting'>();
  readonly #queued = new Set<string>();
  #timer: Disposable | undefined;

  constructor(options: TaskWatchOptions) {
    this.#options = options;
    void this.#look();
  }

  /** Looks now, and not only when the time has come. */
  look(): void {
    this.#timer?.dispose();
    void this.#look();
  }

  dispose(): void {
    this.#timer?.dispose();
    this.#owned.dispose();
    this.#links.clear();
  }

  async #look(): Promise<void> {
    let isQueued = false;
    try {
      const records = await this.#options.records();
      for (const { task_id } of records.filter(({ keeper }) => keeper === null)) {
        isQueued = true;
        this.#queued.add(task_id);
      }
      const kept = records.filter(({ keeper }) => keeper !== null);
      await Promise.all(kept.map((record) => this.#follow(record)));
      this.#tellLeft(records);
    } catch {
      // The state directory or a keeper cannot be reached now: whoever reads the task is told why, and the next look tries again.
    }
    if (this.#owned.isDisposed || (this.#options.isOne && !isQueued)) return;
    const intervalMs = this.#options.isOne ? QUEUED_INTERVAL_MS : LOOK_INTERVAL_MS;
    this.#timer?.dispose();
    this.#timer = this.#options.clock.after(intervalMs, () => void this.#look());
  }

  /** Tells of the tasks that were in the queue and are no longer. */
  #tellLeft(records: readonly TaskRecord[]): void {
    for (const taskId of this.#queued) {
      if (records.some((record) => record.task_id === taskId && record.keeper === null)) continue;
      this.#queued.delete(taskId);
      this.#options.onChange(taskId);
    }
  }

  async #follow(record: TaskRecord): Promise<void> {
    const taskId = record.task_id;
    if (this.#links.has(taskId) || this.#owned.isDisposed) return;
    this.#links.set(taskId, 'connecting');
    const { host, onChange } = this.#options;
    const link = await host.connect(record);
    if (link === undefined || this.#owned.isDisposed) {
      this.#links.delete(taskId);
      link?.dispose();
      if (!this.#owned.isDisposed) onChange(taskId);
      return;
    }
    this.#links.set(taskId, link);
    this.#owned.add(link);
    this.#owned.add(link.onDidChange(({ change_seq }) => onChange(taskId, change_seq)));
    this.#owned.add(
      link.onDidClose(() => {
        this.#links.delete(taskId);
        onChange(taskId);
      }),
    );
  }
}
