import { mkdirSync, watch, type FSWatcher } from 'node:fs';
import type { Clock } from '../../base/clock.js';
import { systemCodeOf } from '../../base/errors.js';
import { Emitter, toDisposable, type Disposable } from '../../base/lifecycle.js';
import { ownerState } from '../../store/owner-state.js';
import { isPidFree } from '../../store/process-identity.js';
import type { StateDir } from '../../store/state-dir.js';
import { isFinal, type TaskRecord } from '../task.js';

/** What `watch` is given for all active tasks. */
const WATCH_ACTIVE = 'active';
/** How often keepers are checked, of whose death no file tells; and records, where the system cannot watch the folder. */
const CHECK_MS = 1_000;
const OWNER_ONLY = 0o700;

export interface TaskWatchesOptions {
  readonly stateDir: StateDir;
  readonly clock: Clock;
  /** The record on disk; undefined for one that cannot be read. */
  readonly read: (taskId: string) => Promise<TaskRecord | undefined>;
}

/**
 * The tasks that somebody follows. All of them are followed by one folder, in which every writer of a record dates a file, see
 * `StateDir.noteChange`.
 */
export class TaskWatches implements Disposable {
  readonly #options: TaskWatchesOptions;
  readonly #changes = new Emitter<string>();
  /** A task id, whenever its record changed, and perhaps once more; only for watched tasks. */
  readonly onDidChange = this.#changes.event;
  /** How many watch each task, or all that are active. */
  readonly #counts = new Map<string, number>();
  /** What the last check found of each task; undefined before the first. */
  #seen: ReadonlyMap<string, string> | undefined;
  #timer: Disposable | undefined;
  #watcher: FSWatcher | undefined;

  constructor(options: TaskWatchesOptions) {
    this.#options = options;
  }

  /** Keeps `onDidChange` firing for a task, or for all active ones, until disposed. */
  watch(taskId: string): Disposable {
    this.#counts.set(taskId, 1 + (this.#counts.get(taskId) ?? 0));
    this.#watcher ??= this.#watchFolder();
    // What is there at the first check was there before.
    if (this.#timer === undefined) this.#next(0);
    return toDisposable(() => {
      const left = (this.#counts.get(taskId) ?? 0) - 1;
      if (left > 0) this.#counts.set(taskId, left);
      else this.#counts.delete(taskId);
      if (this.#counts.size === 0) this.#stop();
    });
  }

  dispose(): void {
    this.#counts.clear();
    this.#stop();
    this.#changes.dispose();
  }

  #stop(): void {
    this.#timer?.dispose();
    this.#timer = undefined;
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#seen = undefined;
  }

  /** Undefined where the system does not let it be watched: the checks find what changed. */
  #watchFolder(): FSWatcher | undefined {
    const { changesDir } = this.#options.stateDir;
    try {
      mkdirSync(changesDir, { recursive: true, mode: OWNER_ONLY });
      const watcher = watch(changesDir, { persistent: false }, (_event, name) => {
        if (name !== null && (this.#counts.has(name) || this.#counts.has(WATCH_ACTIVE)))
          this.#changes.fire(name);
      });
      watcher.on('error', () => {
        watcher.close();
        if (this.#watcher === watcher) this.#watcher = undefined;
      });
      return watcher;
    } catch (error) {
      if (systemCodeOf(error) === undefined) throw error;
      return undefined;
    }
  }

  #next(afterMs: number): void {
    this.#timer = this.#options.clock.after(afterMs, () => {
      const timer = this.#timer;
      void this.#check()
        // The state directory cannot be reached now: a reader of the task gets the reason, and the next check tries again.
        .catch(() => undefined)
        .then(() => {
          if (this.#timer === timer && this.#counts.size > 0) this.#next(CHECK_MS);
        });
    });
  }

  async #check(): Promise<void> {
    const before = this.#seen;
    const now = new Map<string, string>();
    const changing = new Set(await this.#options.stateDir.changingIds());
    const ids = new Set([...this.#counts.keys(), ...(this.#counts.has(WATCH_ACTIVE) ? changing : [])]);
    ids.delete(WATCH_ACTIVE);
    for (const id of ids) now.set(id, await this.#look(id, changing.has(id)));
    if (this.#counts.size > 0) this.#seen = now;
    for (const [id, state] of now) {
      const was = before?.get(id);
      // Of all active tasks, one that was not there at the last check has begun since.
      const hasBegun = was === undefined && before !== undefined && !this.#counts.has(id);
      if (hasBegun || (was === undefined ? state === LEFT : state !== was)) this.#changes.fire(id);
    }
    // Its change file is gone: it has ended.
    for (const id of before?.keys() ?? []) if (!now.has(id)) this.#changes.fire(id);
  }

  /** What tells one state of a task from another. */
  async #look(taskId: string, isChanging: boolean): Promise<string> {
    const { stateDir, read } = this.#options;
    const record = await read(taskId);
    if (record === undefined) return 'none';
    // Its last writer died before it took the file away.
    if (isFinal(record.status) && isChanging) stateDir.noteChange(taskId, true);
    const { keeper, status, change_seq } = record;
    if (keeper === null || isFinal(status)) return `${change_seq}`;
    // By its pid where that says something, as it is asked each second.
    const isLeft = (await isPidFree(keeper)) ?? (await ownerState(keeper, stateDir.path)) === 'gone';
    return isLeft ? LEFT : `${change_seq}`;
  }
}

/** Its keeper is gone. */
const LEFT = 'left';
