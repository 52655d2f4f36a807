import { readlinkSync } from 'node:fs';

/**
 * False where /proc is not mounted, and where it is the one of another pid namespace (`unshare --pid` without
 * `--mount-proc`): that one tells of other processes.
 */
export function isOwnProc(): boolean {
  try {
    return readlinkSync('/proc/self') === String(process.pid);
  } catch {
    return false;
  }
}
