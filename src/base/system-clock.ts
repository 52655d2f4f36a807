import type { Clock } from './clock.js';
import { toDisposable } from './lifecycle.js';

/** Node fires timers with a longer delay immediately (https://nodejs.org/docs/latest-v20.x/api/timers.html). */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** `performance` counts from the start of this process; `hrtime` is the system's monotonic clock, the same for all processes. */
const processStartMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** The time of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => processStartMs + performance.now(),
  after: (delayMs, callback) => {
    const dueMs = performance.now() + delayMs;
    let timer: NodeJS.Timeout;
    const arm = () => {
      timer = setTimeout(fire, Math.min(MAX_TIMER_MS, Math.max(0, dueMs - performance.now())));
    };
    // Node counts from the time its event loop last read the clock, so it may fire up to one loop iteration early.
    const fire = () => (performance.now() < dueMs ? arm() : callback());
    arm();
    return toDisposable(() => clearTimeout(timer));
  },
};
