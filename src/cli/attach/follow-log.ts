import { sleep, type Clock } from '../../base/clock.js';
import type { TextPage } from '../../tasks/task-output.js';

const PAGE_BYTES = 64 * 1024;
/** A log grows by lines; people do not read faster than this. */
const LOOK_INTERVAL_MS = 200;

export interface FollowLogOptions {
  readonly clock: Clock;
  readonly page: (cursor: string, maxBytes: number) => Promise<TextPage>;
  readonly isOver: () => Promise<boolean>;
  /** Each time all that was there has been written. */
  readonly afterPages?: () => Promise<void>;
  readonly write: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Writes a log from its beginning and then as it grows; resolves when its task is over and all was written, or on abort. */
export async function followLog(options: FollowLogOptions): Promise<void> {
  const { clock, page, isOver, afterPages, write, signal } = options;
  let cursor = '0:0';
  while (!signal.aborted) {
    // Asked before the last look: what was written by then is read by it.
    const isLast = await isOver();
    for (let more = true; more && !signal.aborted;) {
      const read = await page(cursor, PAGE_BYTES);
      if (read.text !== '') write(read.text);
      more = read.more;
      cursor = read.cursor;
    }
    if (isLast) return;
    await afterPages?.();
    await sleep(clock, LOOK_INTERVAL_MS, signal);
  }
}
