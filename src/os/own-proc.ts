import { readlinkSync } from 'node:fs';

/**
 * Whether /proc shows the pid namespace of this process. False when it is not mounted, and when it belongs to another namespace
 * (`unshare --pid` without `--mount-proc`).
 */
export function isOwnProc(): boolean {
  try {
    return readlinkSync('/proc/self') === String(process.pid);
  } catch {
    return false;
  }
}
