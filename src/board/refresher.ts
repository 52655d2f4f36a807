import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/lifecycle.js';

/** A task that prints changes many times a second; a page needs no more than this. */
const QUIET_MS = 80;

/** Reads something again after it changed: one reading at a time, and one more for changes meanwhile. */
export class Refresher implements Disposable {
  readonly #clock: Clock;
  readonly #refresh: () => Promise<void>;
  #timer: Disposable | undefined;
  #isRunning = false;
  #isStale = false;
  #isDisposed = false;

  /** `refresh` must not reject. */
  constructor(clock: Clock, refresh: () => Promise<void>) {
    this.#clock = clock;
    this.#refresh = refresh;
  }

  changed(): void {
    if (this.#isDisposed) return;
    this.#isStale = true;
    if (this.#isRunning || this.#timer !== undefined) return;
    void this.#run();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.dispose();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    this.#isStale = false;
    await this.#refresh();
    this.#isRunning = false;
    if (this.#isDisposed) return;
    this.#timer = this.#clock.after(QUIET_MS, () => {
      this.#timer = undefined;
      if (this.#isStale) this.changed();
    });
  }
}
