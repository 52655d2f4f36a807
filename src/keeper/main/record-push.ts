import type { Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { TaskRecord } from '../../tasks/task.js';

/** A change that callers wait for is pushed after this, so that a burst is pushed once. */
const SOON_MS = 20;
/** A change of the view only (output, activity) is pushed this often: a burst must not occupy every server. */
const CALM_MS = 250;

/** Decides when a change of the record is pushed. */
export class RecordPush implements Disposable {
  readonly #clock: Clock;
  readonly #tell: () => void;
  #timer: Disposable | undefined;
  #dueMs = Infinity;
  #newestSeq = -1;
  #toldSeq = -1;

  constructor(clock: Clock, tell: () => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  changed(record: TaskRecord): void {
    this.#newestSeq = record.change_seq;
    const isNews = record.change_seq !== this.#toldSeq;
    // Nothing that matters to who asked comes after an answer.
    const delayMs = !isNews ? CALM_MS : record.answered === true ? 0 : SOON_MS;
    const dueMs = this.#clock.monotonicMs() + delayMs;
    if (dueMs >= this.#dueMs) return;
    this.#timer?.dispose();
    this.#dueMs = dueMs;
    this.#timer = this.#clock.after(delayMs, () => {
      this.#dueMs = Infinity;
      // What is sent is the newest record, not the one that set the timer.
      this.#toldSeq = this.#newestSeq;
      this.#tell();
    });
  }

  dispose(): void {
    this.#timer?.dispose();
  }
}
