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
/** Followed tasks without a change file are read each time after so many checks. */
const CHECKS_A_LOOK = 5;
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
  /** A task id, whenever its record changed; only for watched tasks. */
  readonly onDidChange = this.#changes.event;
  /** How many watch each task, or all that are active. */
  readonly #counts = new Map<string, number>();
  /** What the last check found of each task. */
  readonly #seen = new Map<string, string>();
  /** The tasks with a change file at the last check. */
  #changing: ReadonlySet<string> = new Set();
  #checks = 0;
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
    this.#seen.clear();
    this.#changing = new Set();
    this.#checks = 0;
  }

  /** Undefined where the system does not let it be watched: the checks find what changed. */
  #watchFolder(): FSWatcher | undefined {
    const { changesDir } = this.#options.stateDir;
    try {
      mkdirSync(changesDir, { recursive: true, mode: OWNER_ONLY });
      const watcher = watch(changesDir, { persistent: false }, (_event, name) => {
        if (name !== null && this.#isWatched(name)) this.#changes.fire(name);
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

  #isWatched(taskId: string): boolean {
    return this.#counts.has(taskId) || this.#counts.has(WATCH_ACTIVE);
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
    const { stateDir, read } = this.#options;
    const isFirst = this.#checks === 0;
    const isLook = this.#checks++ % CHECKS_A_LOOK === 0;
    const changing = new Set((await stateDir.changingIds()).filter((id) => this.#isWatched(id)));
    const before = this.#changing;
    this.#changing = changing;
    for (const id of before) if (!changing.has(id)) this.#ended(id);
    for (const id of changing) await this.#compare(id, await read(id), isFirst);
    if (isLook) await this.#look(isFirst);
  }

  /** The folder was watched when it ended, or the check finds it. */
  #ended(taskId: string): void {
    this.#seen.delete(taskId);
    if (this.#watcher === undefined && this.#isWatched(taskId)) this.#changes.fire(taskId);
  }

  /** Followed tasks that have no change file: those that wait in the queue, or have ended. */
  async #look(isFirst: boolean): Promise<void> {
    for (const id of this.#counts.keys()) {
      if (id !== WATCH_ACTIVE && !this.#changing.has(id))
        await this.#compare(id, await this.#options.read(id), isFirst);
    }
  }

  async #compare(taskId: string, record: TaskRecord | undefined, isFirst: boolean): Promise<void> {
    // Its last writer died before it took the file away.
    if (record !== undefined && isFinal(record.status) && this.#changing.has(taskId))
      this.#options.stateDir.noteChange(taskId, true);
    const isLeft = record !== undefined && !isFinal(record.status) && (await this.#isLeft(record));
    const isTold = this.#watcher !== undefined && this.#changing.has(taskId);
    const now = isLeft ? 'left' : isTold ? 'told' : `${record?.change_seq ?? 'none'}`;
    const before = this.#seen.get(taskId);
    this.#seen.set(taskId, now);
    const isNews = before === undefined ? isLeft || !(isFirst || this.#counts.has(taskId)) : before !== now;
    if (isNews) this.#changes.fire(taskId);
  }

  /** Whether the keeper of a task is gone: by its pid where that says something, as it is asked each second. */
  async #isLeft({ keeper }: TaskRecord): Promise<boolean> {
    if (keeper === null) return false;
    return (await isPidFree(keeper)) ?? (await ownerState(keeper, this.#options.stateDir.path)) === 'gone';
  }
}
