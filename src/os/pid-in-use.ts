import { systemCodeOf } from '../base/errors.js';
import type { Pid } from './pid.js';

/** False when no process, not even a zombie, has this pid. Sends no signal. */
export function isPidInUse(pid: Pid): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCodeOf(error) !== 'ESRCH';
  }
}
