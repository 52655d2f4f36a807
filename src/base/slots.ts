// Pure.
import { toDisposable, type Disposable } from './lifecycle.js';

/** A semaphore: `count` callers hold a slot at the same time; the others wait, first come, first served. */
export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves with a slot, which the caller disposes. Rejects with the signal's reason when it aborts first. */
  async take(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#waitForSlot(signal);
    return toDisposable(() => this.#giveBack());
  }

  #waitForSlot(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        this.#waiting.delete(go);
        reject(signal.reason instanceof Error ? signal.reason : new Error('The call was cancelled.'));
      };
      this.#waiting.add(go);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  #giveBack(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free++;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}
