import { withinMs, type Clock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import { Emitter } from '../base/event.js';
import { writeJsonFileAtomically } from '../base/json-file.js';
import type { Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import type { TaskRecord } from './task.js';

/** A record whose only news is its view (last output, activity) is written at most this often. */
const SOON_MS = 1_000;
/** A write that takes longer is waited for in vain: the disk is gone, the task goes on. */
const WRITE_LIMIT_MS = 10_000;

/** Writes one task's record.json: one write at a time, the newest wins, faults are told and never end the task. */
export class RecordWriter implements Disposable {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #writes = new Emitter<void>();
  /** The newest record can be read from disk now (or the disk did not take it): the time to tell others of it. */
  readonly onDidWrite = this.#writes.event;
  #newest: (() => TaskRecord) | undefined;
  #writing: Promise<void> | undefined;
  #soon: Disposable | undefined;

  constructor(path: string, clock: Clock, logger: Logger) {
    this.#path = path;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Resolves when this record, or a newer one, is on disk; or when the disk did not take it. */
  async write(record: TaskRecord): Promise<void> {
    this.#newest = () => record;
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

  dispose(): void {
    this.#soon?.dispose();
    this.#writes.dispose();
  }

  async #pump(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    const newest = this.#newest;
    if (newest === undefined) return;
    this.#newest = undefined;
    this.#writing = writeJsonFileAtomically(this.#path, newest())
      .catch((fault: unknown) =>
        this.#logger.error('the record could not be written', { path: this.#path, fault: messageOf(fault) }),
      )
      .finally(() => (this.#writing = undefined));
    await this.#writing;
    this.#writes.fire();
  }
}
