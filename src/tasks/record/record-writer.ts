import { withinMs, type Clock } from '../../base/clock.js';
import { Emitter, type Disposable } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import { makeFolders } from '../../base/files/folders.js';
import type { StateDir } from '../../store/state-dir.js';
import { writeRecordFile } from './record-file.js';
import type { TaskRecord } from '../task.js';

/** A change that callers do not act on is written at most this often. */
const SOON_MS = 1_000;
/** A write that takes longer is waited for in vain: the disk is gone, the task goes on. */
const WRITE_LIMIT_MS = 10_000;
/** How often a disk that did not take the record is tried again. */
const RETRY_MS = 1_000;
const OWNER_ONLY = 0o700;

/**
 * Writes one task's record.json: one write at a time, the newest wins. A disk that does not take it is tried again until it
 * does; the task goes on meanwhile.
 */
export class RecordWriter implements Disposable {
  readonly #stateDir: StateDir;
  readonly #taskId: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #writes = new Emitter<TaskRecord>();
  readonly #faults = new Emitter<unknown>();
  /** This very record can be read from disk now (or the disk did not take it): the time to tell others of it. */
  readonly onDidWrite = this.#writes.event;
  /** A write failed; it is tried again. */
  readonly onDidFail = this.#faults.event;
  #newest: (() => TaskRecord) | undefined;
  /** A crash of the machine may take the newest record: callers do not act on it. */
  #isForView = true;
  #writing: Promise<void> | undefined;
  #soon: Disposable | undefined;
  #retry: Disposable | undefined;
  #isFailing = false;
  #hasWritten = false;
  #isDisposed = false;

  constructor(stateDir: StateDir, taskId: string, clock: Clock, logger: Logger) {
    this.#stateDir = stateDir;
    this.#taskId = taskId;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** The disk did not take the newest record yet. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** A record was put on disk. */
  get hasWritten(): boolean {
    return this.#hasWritten;
  }

  /** Resolves when this record, or a newer one, is on disk; or when the disk did not take it. */
  async write(record: TaskRecord): Promise<void> {
    this.#newest = () => record;
    this.#isForView = false;
    await withinMs(this.#clock, WRITE_LIMIT_MS, this.#pump());
  }

  /** Writes what `record` gives, when the time has come. */
  writeSoon(record: () => TaskRecord): void {
    this.#newest = record;
    this.#soon ??= this.#clock.after(SOON_MS, () => {
      this.#soon = undefined;
      void this.#pump();
    });
  }

  /** Tries what the disk did not take once more. */
  async retry(): Promise<void> {
    await withinMs(this.#clock, WRITE_LIMIT_MS, this.#pump());
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#soon?.dispose();
    this.#retry?.dispose();
    this.#writes.dispose();
    this.#faults.dispose();
  }

  async #pump(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    const newest = this.#newest;
    if (newest === undefined) return;
    const durable = !this.#isForView;
    this.#newest = undefined;
    this.#isForView = true;
    const record = newest();
    this.#writing = this.#put(record, durable).finally(() => (this.#writing = undefined));
    await this.#writing;
    this.#writes.fire(record);
  }

  async #put(record: TaskRecord, durable: boolean): Promise<void> {
    try {
      // The task's folder was removed. It is still the only place where others find this task.
      if (this.#isFailing) await makeFolders(this.#stateDir.taskDir(this.#taskId), OWNER_ONLY);
      await writeRecordFile(this.#stateDir, record, durable);
      if (this.#isFailing) this.#logger.info('the record is written again', { task_id: this.#taskId });
      this.#isFailing = false;
      this.#hasWritten = true;
    } catch (error) {
      this.#isFailing = true;
      this.#newest ??= () => record;
      this.#isForView &&= !durable;
      if (this.#isDisposed) return;
      this.#retry?.dispose();
      this.#retry = this.#clock.after(RETRY_MS, () => void this.#pump());
      this.#faults.fire(error);
    }
  }
}
