// Pure.
import type { Clock } from '../../base/clock.js';
import { Emitter } from '../../base/event.js';
import { DisposableStore, toDisposable, type Disposable } from '../../base/lifecycle.js';
import { isFinal, type TaskRecord } from '../task.js';
import type { TaskHost } from '../task-host.js';
import { TaskWatch } from './task-watch.js';

/** What `watch` is given for all active tasks. */
const WATCH_ACTIVE = 'active';

export interface TaskWatchesOptions {
  readonly host: TaskHost;
  readonly clock: Clock;
  /** Every record that can be read. */
  readonly all: () => Promise<readonly TaskRecord[]>;
  readonly read: (taskId: string) => Promise<TaskRecord | undefined>;
}

export interface TaskChange {
  readonly taskId: string;
  /** The record's own; left out when the record must be read to know what changed. */
  readonly changeSeq?: number;
}

/** The tasks that somebody follows; each is followed once, however many do. */
export class TaskWatches implements Disposable {
  readonly #options: TaskWatchesOptions;
  readonly #owned = new DisposableStore();
  readonly #changes = this.#owned.add(new Emitter<string>());
  /** A task id, whenever its record or log changed; only for watched tasks. */
  readonly onDidChange = this.#changes.event;
  readonly #seenChanges = this.#owned.add(new Emitter<TaskChange>());
  /** The same with the number of the change, where it is known. */
  readonly onDidSeeChange = this.#seenChanges.event;
  readonly #watches = new Map<string, { count: number; readonly watch: TaskWatch }>();

  constructor(options: TaskWatchesOptions) {
    this.#options = options;
  }

  /** Notifies listeners that a task changed, when this process knows it first. */
  changed(taskId: string): void {
    this.#notify({ taskId });
    for (const { watch } of this.#watches.values()) watch.check();
  }

  /** Keeps `onDidChange` firing for a task, or for all active ones, until disposed. */
  watch(taskId: string): Disposable {
    const held = this.#watches.get(taskId) ?? { count: 0, watch: this.#create(taskId) };
    held.count++;
    this.#watches.set(taskId, held);
    return toDisposable(() => {
      held.count--;
      if (held.count > 0) return;
      this.#watches.delete(taskId);
      held.watch.dispose();
    });
  }

  dispose(): void {
    for (const { watch } of this.#watches.values()) watch.dispose();
    this.#watches.clear();
    this.#owned.dispose();
  }

  #notify(change: TaskChange): void {
    this.#changes.fire(change.taskId);
    this.#seenChanges.fire(change);
  }

  #create(taskId: string): TaskWatch {
    const { host, all, clock, read } = this.#options;
    return new TaskWatch({
      host,
      clock,
      isOne: taskId !== WATCH_ACTIVE,
      records: async () => {
        const records = taskId === WATCH_ACTIVE ? await all() : [await read(taskId)];
        return records.filter((record) => record !== undefined).filter((record) => !isFinal(record.status));
      },
      onChange: (id, changeSeq) =>
        this.#notify({ taskId: id, ...(changeSeq !== undefined && { changeSeq }) }),
    });
  }
}
