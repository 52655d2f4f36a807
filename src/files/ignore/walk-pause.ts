import { setImmediate } from 'node:timers/promises';

/** A heavy call may delay a trivial one by 20 ms; this leaves room for the work between two checks of the clock. */
const SLICE_MS = 8;

/** Lets other calls run during long work, and stops the work when its call is cancelled. */
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

  /** Yields to the event loop once. Throws the signal's reason when the call was cancelled. */
  async wait(): Promise<void> {
    await setImmediate();
    this.#signal.throwIfAborted();
    this.#since = performance.now();
  }
}
