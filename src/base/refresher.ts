// Pure: reads again what has changed, and not too often.
import { sleep, type Clock } from './clock.js';
import { toDisposable, type DisposableStore } from './lifecycle.js';

/** A task that prints changes many times a second; a page needs no more than this. */
const QUIET_MS = 80;

/** Aborts when `owned` is disposed. */
export function leftWith(owned: DisposableStore): AbortSignal {
  const left = new AbortController();
  owned.add(toDisposable(() => left.abort()));
  return left.signal;
}

/** What has something read again: one reading at a time, one in 80 ms, and one more for changes meanwhile. `read` must not reject. */
export function refresher(clock: Clock, left: AbortSignal, read: () => Promise<void>): () => void {
  let isReading = false;
  let isStale = false;
  const run = async (): Promise<void> => {
    isReading = true;
    while (isStale && !left.aborted) {
      isStale = false;
      await read();
      await sleep(clock, QUIET_MS, left);
    }
    isReading = false;
  };
  return () => {
    isStale = true;
    if (!isReading) void run();
  };
}
