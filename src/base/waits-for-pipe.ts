import { readdirSync, readFileSync } from 'node:fs';
import { systemCodeOf } from './errors.js';

/** Where in the kernel a thread waits that opens a pipe of which nobody opens the other end (fs/pipe.c); the one may be part of the other. */
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
