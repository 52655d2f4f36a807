import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/base/clock.js';
import { systemClock } from '../../src/base/system-clock.js';

describe('the system clock', () => {
  it('never fires early, even if the event loop was busy when the timer was set', async () => {
    for (let round = 0; round < 20; round++) {
      const busyUntilMs = systemClock.monotonicMs() + 8;
      while (systemClock.monotonicMs() < busyUntilMs);
      const dueMs = systemClock.monotonicMs() + 10;
      await sleep(systemClock, 10);
      expect(systemClock.monotonicMs()).toBeGreaterThanOrEqual(dueMs);
    }
  });

  it('takes a delay beyond the limit of Node, and never fires a disposed timer', async () => {
    let fired = 0;
    const never = systemClock.after(2 ** 40, () => fired++);
    const disposed = systemClock.after(1, () => fired++);
    disposed.dispose();
    await sleep(systemClock, 5);
    never.dispose();
    expect(fired).toBe(0);
  });

  it('a sleep ends when its signal aborts', async () => {
    const controller = new AbortController();
    const slept = sleep(systemClock, 2 ** 40, controller.signal);
    controller.abort();
    await slept;
  });
});
