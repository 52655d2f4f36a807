import { sleep } from '../../base/clock.js';
import { systemClock } from '../../base/system-clock.js';
import { LOG_IS_GONE, readLogPage } from '../../store/pages.js';
import { isFinal, type TaskRecord } from '../../tasks/task.js';
import type { TerminalLog } from '../terminal-log.js';

const PAGE_BYTES = 64 * 1024;
/** Short, since a log of a small size may rotate between two looks. */
const LOOK_INTERVAL_MS = 50;
/** After so many looks without the rest, the task is asked about again: that costs a connection. */
const LOOKS_PER_STATUS = 4;

export interface FollowLogOptions {
  /** The record as it is now. */
  readonly get: () => Promise<TaskRecord>;
  /** False when only what is there now is written. */
  readonly follows: boolean;
  readonly log: TerminalLog;
  readonly signal: AbortSignal;
  /** Each time all that was there has been written. */
  readonly afterPages?: (record: TaskRecord) => Promise<void>;
  /** On abort; the record of a task that has ended by then has the rest of its log written. */
  readonly atAbort?: (record: TaskRecord) => Promise<TaskRecord>;
}

const noAbort = new AbortController().signal;

/** Writes the log of a task from its beginning and then as it grows, until the task is over and all was written, or until abort. Resolves with the last record. */
export async function followLog({
  get,
  follows,
  log,
  signal,
  afterPages,
  atAbort,
}: FollowLogOptions): Promise<TaskRecord> {
  // Asked before the last look: what was written by then is read by it.
  let last = await get();
  const pages = new Pages(last.log_file, log);
  try {
    while (!signal.aborted) {
      const isLast = !follows || isFinal(last.status);
      await pages.writeRest(signal);
      if (isLast && last.started_at !== null && pages.isMissing) log.write(LOG_IS_GONE);
      if (isLast) return last;
      await afterPages?.(last);
      log.working(last.activity, systemClock.now());
      for (let looks = 0; looks < LOOKS_PER_STATUS && !signal.aborted; looks++) {
        await sleep(systemClock, LOOK_INTERVAL_MS, signal);
        await pages.writeRest(signal);
      }
      last = await get();
    }
    const left = await atAbort?.(last);
    if (left !== undefined && isFinal(left.status)) await pages.writeRest(noAbort);
    return left ?? last;
  } finally {
    log.end();
  }
}

/** The log, page by page, also across the files of a log that rotates; the first line of a file says what is gone before it. */
class Pages {
  readonly #path: string;
  readonly #log: TerminalLog;
  #cursor = '0';
  /** No file was found so far. */
  isMissing = true;

  constructor(path: string, log: TerminalLog) {
    this.#path = path;
    this.#log = log;
  }

  /** Writes what is there and was not written yet. */
  async writeRest(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const page = await readLogPage(this.#path, this.#cursor, PAGE_BYTES);
      this.isMissing &&= page.isMissing === true;
      this.#cursor = page.cursor;
      if (page.text === '') return;
      this.#log.write(page.text);
    }
  }
}
