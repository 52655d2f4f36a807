import type { Clock } from './clock.js';
import { toDisposable } from './lifecycle.js';

/** Node fires timers with a longer delay immediately (https://nodejs.org/docs/latest-v20.x/api/timers.html). */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The system's monotonic clock, the same for all processes; `performance` counts from the start of one, and costs it a megabyte. */
const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** The time of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs,
  after: (delayMs, callback) => {
    const dueMs = monotonicMs() + delayMs;
    let timer: NodeJS.Timeout;
    const arm = () => {
      timer = setTimeout(fire, Math.min(MAX_TIMER_MS, Math.max(0, dueMs - monotonicMs())));
    };
    // Node counts from the time its event loop last read the clock, so it may fire up to one loop iteration early.
    const fire = () => (monotonicMs() < dueMs ? arm() : callback());
    arm();
    return toDisposable(() => clearTimeout(timer));
  },
};
