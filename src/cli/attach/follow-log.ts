import { sleep, type Clock } from '../../base/clock.js';
import { LogStream } from '../../tasks/log-stream.js';
import { LOG_IS_GONE } from '../../tasks/task-output.js';

const PAGE_BYTES = 64 * 1024;
/** Short, since a log of a small size may rotate between two looks. */
const LOOK_INTERVAL_MS = 50;
/** After so many looks without the rest, the task is asked about again: that costs a connection. */
const LOOKS_PER_STATUS = 4;

export interface FollowLogOptions {
  readonly clock: Clock;
  /** Of the log. */
  readonly path: string;
  readonly isOver: () => Promise<boolean>;
  /** Whether the task began, and so wrote a log; asked after `isOver`. */
  readonly hasBegun: () => boolean;
  /** Each time all that was there has been written. */
  readonly afterPages?: () => Promise<void>;
  readonly write: (text: string) => void;
  readonly signal: AbortSignal;
  /** On abort; true when the task has ended by then, and the rest of the log is to be written. */
  readonly atAbort?: () => Promise<boolean>;
}

const noAbort = new AbortController().signal;

/** Writes a log from its beginning and then as it grows; resolves when its task is over and all was written, or on abort. */
export async function followLog({
  clock,
  path,
  isOver,
  hasBegun,
  afterPages,
  write,
  signal,
  atAbort,
}: FollowLogOptions): Promise<void> {
  const stream = new LogStream(path);
  try {
    while (!signal.aborted) {
      // Asked before the last look: what was written by then is read by it.
      const isLast = await isOver();
      await writeAll(stream, write, signal);
      if (isLast && hasBegun() && !stream.isFound) write(LOG_IS_GONE);
      if (isLast) return;
      await afterPages?.();
      for (let looks = 0; looks < LOOKS_PER_STATUS && !signal.aborted; looks++) {
        await sleep(clock, LOOK_INTERVAL_MS, signal);
        await writeAll(stream, write, signal);
      }
    }
    if ((await atAbort?.()) === true) await writeAll(stream, write, noAbort);
  } finally {
    await stream.close();
  }
}

async function writeAll(
  stream: LogStream,
  write: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const text = await stream.read(PAGE_BYTES);
    if (text === '') return;
    write(text);
  }
}
