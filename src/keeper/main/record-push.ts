// Pure.
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
  readonly #push: () => void;
  #timer: Disposable | undefined;
  #dueMs = Infinity;
  #newestSeq = -1;
  #pushedSeq = -1;

  constructor(clock: Clock, push: () => void) {
    this.#clock = clock;
    this.#push = push;
  }

  changed(record: TaskRecord): void {
    this.#newestSeq = record.change_seq;
    const isNews = record.change_seq !== this.#pushedSeq;
    // An answered question has nothing more to wait for.
    const delayMs = !isNews ? CALM_MS : record.answered === true ? 0 : SOON_MS;
    const dueMs = this.#clock.monotonicMs() + delayMs;
    if (dueMs >= this.#dueMs) return;
    this.#timer?.dispose();
    this.#dueMs = dueMs;
    this.#timer = this.#clock.after(delayMs, () => {
      this.#dueMs = Infinity;
      // The newest record is sent, not the one that set the timer.
      this.#pushedSeq = this.#newestSeq;
      this.#push();
    });
  }

  dispose(): void {
    this.#timer?.dispose();
  }
}
