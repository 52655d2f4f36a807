import type { Clock } from '../../src/base/clock.js';
import { toDisposable, type Disposable } from '../../src/base/lifecycle.js';

/** A clock that stands still until it is told to go on. */
export class ManualClock implements Clock {
  #nowMs = 0;
  readonly #timers = new Set<{ dueMs: number; callback: () => void }>();

  now(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, callback: () => void): Disposable {
    const timer = { dueMs: this.#nowMs + delayMs, callback };
    this.#timers.add(timer);
    return toDisposable(() => this.#timers.delete(timer));
  }

  get timerCount(): number {
    return this.#timers.size;
  }

  /** Goes on by so much; timers fire in the order in which they are due. */
  advance(byMs: number): void {
    const untilMs = this.#nowMs + byMs;
    for (;;) {
      const [next] = [...this.#timers]
        .filter((one) => one.dueMs <= untilMs)
        .sort((a, b) => a.dueMs - b.dueMs);
      if (!next) break;
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.callback();
    }
    this.#nowMs = untilMs;
  }
}
