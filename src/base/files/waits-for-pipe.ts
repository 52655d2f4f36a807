import { readdirSync, readFileSync } from 'node:fs';
import { systemCodeOf } from '../errors.js';
import { toDisposable, type Disposable } from '../lifecycle.js';

/** Between two looks: most programs have ended before the first. */
const LOOK_MS = 100;
/** Where in the kernel a thread waits that opens a pipe of which nobody opens the other end (fs/pipe.c); a compiler may put the one into the other. */
const PLACES_OF_WAITING: readonly string[] = ['wait_for_partner', 'fifo_open'];

/** True when a thread of the process waits for the other end of a pipe. Never on systems whose kernel does not tell (proc(5)). */
export function waitsForPipe(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).some((thread) =>
      PLACES_OF_WAITING.includes(readFileSync(`/proc/${pid}/task/${thread}/wchan`, 'latin1')),
    );
  } catch (thrown) {
    // Gone meanwhile, or no such system.
    if (systemCodeOf(thrown) !== undefined) return false;
    throw thrown;
  }
}

/**
 * Calls `onWait` each time the process is seen to wait for the other end of a pipe: whoever reads ignore rules opens a pipe that
 * lies in their place, and would wait for ever. `pid` is undefined for a program that could not be started.
 */
export function watchForPipe(pid: number | undefined, onWait: () => void): Disposable {
  const looking = setInterval(() => {
    if (pid !== undefined && waitsForPipe(pid)) onWait();
  }, LOOK_MS);
  return toDisposable(() => clearInterval(looking));
}
