import { readFileSync } from 'node:fs';
import { systemCodeOf } from '../base/errors.js';

/** Halted by a signal, or by a debugger (proc(5), field 3 of stat). */
const HALTED = ['T', 't'];

/** True for a process that was halted (SIGSTOP) and answers nobody until it may go on. Linux; elsewhere always false. */
export function isHalted(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name may hold spaces and parentheses.
    return HALTED.includes(stat.charAt(stat.lastIndexOf(')') + 2));
  } catch (thrown) {
    // Gone, or a system without /proc.
    if (systemCodeOf(thrown) !== undefined) return false;
    throw thrown;
  }
}
