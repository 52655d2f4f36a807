import type { Clock } from '../../src/base/clock.js';
import { toDisposable, type Disposable } from '../../src/base/lifecycle.js';

/** Time goes on only while somebody waits, and then at once: an hour's wait is over with the next turn of the loop. */
export class HastyClock implements Clock {
  #nowMs = 0;

  now(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, callback: () => void): Disposable {
    const timer = setImmediate(() => {
      this.#nowMs += delayMs;
      callback();
    });
    return toDisposable(() => clearImmediate(timer));
  }
}
