import { execFile } from 'node:child_process';
import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { systemCodeOf } from '../base/errors.js';

/** `mkfifo` takes milliseconds. */
const MAKE_LIMIT_MS = 5_000;
/** Where every system that has it keeps it; nothing of the user's environment reaches it. */
const ENV = { PATH: '/usr/bin:/bin' };

/** Makes the named pipe of a task's processes, see LIFE_VARIABLE. False where the system has no `mkfifo` or the disk takes none. */
export async function makeLife(path: string): Promise<boolean> {
  await promisify(execFile)('mkfifo', ['-m', '600', path], { env: ENV, timeout: MAKE_LIMIT_MS }).catch(
    () => undefined,
  );
  return existsSync(path);
}

/** Whether any process of this kernel holds the pipe open, in whichever pid namespace. Throws the system's error. */
export function isHeldOpen(path: string): boolean {
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch (error) {
    const code = systemCodeOf(error);
    // ENXIO: there is no reader (fifo(7)), and each holder is one.
    if (code === 'ENXIO' || code === 'ENOENT') return false;
    throw error;
  }
}
