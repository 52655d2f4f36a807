import { makeFolders } from '../../base/files/folders.js';
import { withinMs, type Clock } from '../../base/clock.js';
import { type Disposable, Emitter } from '../../base/lifecycle.js';
import type { StateDir } from '../../store/state-dir.js';
import type { TaskRecord } from '../task.js';
import { writeRecordFile } from './record-file.js';

/** A change that callers do not act on is written at most this often. */
const SOON_MS = 1_000;
/** A write that takes longer is waited for in vain: the disk is gone, the task goes on. */
const WRITE_LIMIT_MS = 10_000;
const OWNER_ONLY = 0o700;

/**
 * Writes one task's record.json: one write at a time, the newest wins. What the disk does not take is written by `retry`, or with the next
 * change; the task goes on meanwhile.
 */
export class RecordWriter implements Disposable {
  readonly #stateDir: StateDir;
  readonly #clock: Clock;
  readonly #writes = new Emitter<TaskRecord>();
  readonly #faults = new Emitter<unknown>();
  /** This very record can be read from disk now (or the disk did not take it): the time to tell others of it. */
  readonly onDidWrite = this.#writes.event;
  /** A write failed. */
  readonly onDidFail = this.#faults.event;
  #newest: (() => TaskRecord) | undefined;
  /** A crash of the machine may take the newest record: callers do not act on it. */
  #isForView = true;
  #writing: Promise<void> | undefined;
  #soon: Disposable | undefined;
  #isFailing = false;
  #hasWritten = false;

  constructor(stateDir: StateDir, clock: Clock) {
    this.#stateDir = stateDir;
    this.#clock = clock;
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
  write(record: TaskRecord): Promise<void> {
    this.#newest = () => record;
    this.#isForView = false;
    return this.retry();
  }

  /** Writes what `record` gives, when the time has come. */
  writeSoon(record: () => TaskRecord): void {
    this.#newest = record;
    this.#soon ??= this.#clock.after(SOON_MS, () => {
      this.#soon = undefined;
      void this.#pump();
    });
  }

  /** Writes what waits, and what the disk did not take. */
  async retry(): Promise<void> {
    await withinMs(this.#clock, WRITE_LIMIT_MS, this.#pump());
  }

  dispose(): void {
    this.#soon?.dispose();
    this.#writes.dispose();
    this.#faults.dispose();
  }

  async #pump(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    const record = this.#newest?.();
    if (record === undefined) return;
    const durable = !this.#isForView;
    this.#newest = undefined;
    this.#isForView = true;
    this.#writing = this.#put(record, durable).finally(() => (this.#writing = undefined));
    await this.#writing;
    this.#writes.fire(record);
  }

  async #put(record: TaskRecord, durable: boolean): Promise<void> {
    try {
      // The task's folder was removed. It is still the only place where others find this task.
      if (this.#isFailing) await makeFolders(this.#stateDir.taskDir(record.task_id), OWNER_ONLY);
      await writeRecordFile(this.#stateDir, record, durable);
      this.#isFailing = false;
      this.#hasWritten = true;
    } catch (error) {
      this.#isFailing = true;
      this.#newest ??= () => record;
      this.#isForView &&= !durable;
      this.#faults.fire(error);
    }
  }
}
