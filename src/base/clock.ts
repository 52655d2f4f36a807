import { toDisposable, type Disposable } from './lifecycle.js';

/** Time as the rest of the program sees it; tests give a fake one. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch: for timestamps only. */
  now(): number;
  /**
   * Milliseconds that only ever grow, whoever sets the wall clock: for durations and deadlines. Counted from the machine's
   * start, so that processes of one boot can compare them.
   */
  monotonicMs(): number;
  /** Runs `callback` once after `delayMs`; any delay is allowed, also beyond 2^31 ms. */
  after(delayMs: number, callback: () => void): Disposable;
}

/** Node fires timers above this at once (https://nodejs.org/docs/latest-v20.x/api/timers.html). */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** `performance` counts from the start of this process; the system's own monotonic clock is the same for all. */
const processStartMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => processStartMs + performance.now(),
  after: (delayMs, callback) => {
    const dueMs = performance.now() + delayMs;
    let timer: NodeJS.Timeout;
    const arm = () => {
      timer = setTimeout(fire, Math.min(MAX_TIMER_MS, Math.max(0, dueMs - performance.now())));
    };
    // Node counts from the time at which its loop last looked at the clock, and so fires up to a turn of the loop early.
    const fire = () => (performance.now() < dueMs ? arm() : callback());
    arm();
    return toDisposable(() => clearTimeout(timer));
  },
};

/** Resolves after `delayMs`, or at once when `signal` aborts; never rejects. */
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
