import { readdirSync, readFileSync } from 'node:fs';
import { systemCodeOf } from '../base/errors.js';
import { toDisposable, type Disposable } from '../base/lifecycle.js';

/** Most programs have ended before the first check. */
const POLL_MS = 100;
/** The kernel functions in which a thread waits for the other end of a FIFO (fs/pipe.c); a compiler may inline the first into the second. */
const WAITING_FUNCTIONS: readonly string[] = ['wait_for_partner', 'fifo_open'];

/** True when a thread of the process waits for the other end of a FIFO. Always false without `wchan` in /proc (proc(5)). */
function waitsForPipe(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).some((thread) =>
      WAITING_FUNCTIONS.includes(readFileSync(`/proc/${pid}/task/${thread}/wchan`, 'latin1')),
    );
  } catch (thrown) {
    // The process has ended, or this system has no /proc.
    if (systemCodeOf(thrown) !== undefined) return false;
    throw thrown;
  }
}

/**
 * Calls `onWait` at each check that finds the process waiting for the other end of a FIFO: a program that reads ignore files would
 * wait forever for a FIFO with such a name. `pid` is undefined for a program that could not be started.
 */
export function watchForPipe(pid: number | undefined, onWait: () => void): Disposable {
  const timer = setInterval(() => {
    if (pid !== undefined && waitsForPipe(pid)) onWait();
  }, POLL_MS);
  return toDisposable(() => clearInterval(timer));
}
