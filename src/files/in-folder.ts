import { closeSync, constants, openSync } from 'node:fs';
import { systemCodeOf } from '../base/errors.js';

/** Linux: a descriptor that only names a place (open(2)). */
const O_PATH = 0o10000000;
/** Where a process can stay when it cannot go back. */
const NOBODYS_FOLDER = '/';

/**
 * Does `work` with the folder at `place` as the working directory, for names in it that are looked at by the hundred: by way of a
 * descriptor each look would take twice as long. `work` is over when it returns, so that nothing else of this process ever sees
 * another directory than its own. Linux only. Throws system errors, and then `work` was not begun.
 */
export function inFolder(place: string, work: () => void): void {
  const own = openSync('.', O_PATH | constants.O_DIRECTORY);
  try {
    process.chdir(place);
    try {
      work();
    } finally {
      goBack(own);
    }
  } finally {
    closeSync(own);
  }
}

/** As `inFolder`; false, and `work` was not begun, when there is no way into the folder. `work` throws no system errors itself. */
export function triedInFolder(place: string, work: () => void): boolean {
  try {
    inFolder(place, work);
    return true;
  } catch (thrown) {
    if (systemCodeOf(thrown) === undefined) throw thrown;
    return false;
  }
}

/** By its descriptor: it may have been renamed or removed. */
function goBack(own: number): void {
  try {
    process.chdir(`/proc/self/fd/${own}`);
  } catch (thrown) {
    if (systemCodeOf(thrown) === undefined) throw thrown;
    // Closed to us since we are here. To stay would keep a folder of the user in use.
    process.chdir(NOBODYS_FOLDER);
  }
}
