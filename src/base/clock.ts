// Pure: time as the program sees it, and waits on it.
import type { Disposable } from './lifecycle.js';

/** Time as the rest of the program sees it; tests use a fake one. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch: for timestamps only. */
  now(): number;
  /**
   * Monotonic milliseconds, for durations and deadlines. They count from the machine's start, so that processes of one boot
   * can compare them.
   */
  monotonicMs(): number;
  /** Runs `callback` once after `delayMs`, which may be above 2^31 ms. */
  after(delayMs: number, callback: () => void): Disposable;
}

/** Resolves after `delayMs`, or as soon as `signal` aborts; never rejects. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      timer.dispose();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.after(delayMs, done);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** The promise's value, or `undefined` when `limitMs` passed first. */
export async function withinMs<T>(
  clock: Clock,
  limitMs: number,
  promise: Promise<T>,
): Promise<T | undefined> {
  let timer: Disposable | undefined;
  try {
    return await Promise.race([
      promise,
      new Promise<undefined>((resolve) => {
        timer = clock.after(limitMs, () => resolve(undefined));
      }),
    ]);
  } finally {
    timer?.dispose();
  }
}
