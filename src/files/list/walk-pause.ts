import { setImmediate } from 'node:timers/promises';

/** A heavy call may delay a trivial one by 20 ms; half of that leaves room for what is done between two looks at the clock. */
const SLICE_MS = 8;

/** Lets other calls run in long work, and ends the work when its call is cancelled. */
export class WalkPause {
  readonly #signal: AbortSignal;
  #since = performance.now();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** True when it is time to `wait`; cheap enough for every step. */
  isDue(): boolean {
    return performance.now() - this.#since > SLICE_MS;
  }

  /** Lets everything else run once. Throws the signal's reason when the call is over. */
  async wait(): Promise<void> {
    await setImmediate();
    this.#signal.throwIfAborted();
    this.#since = performance.now();
  }
}
