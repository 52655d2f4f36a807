import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { BridgeError } from '../base/errors.js';
import { findOnPath, isProgram } from '../os/find-on-path.js';

/**
 * The absolute path of a program as `execvp` would find it: a name with a slash is taken relative to `cwd`, any other is
 * searched in the PATH of `env`. Throws BridgeError TASK_START_FAILED when there is none, or none that may be executed.
 */
export async function findProgram(
  name: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  let why = 'is not on PATH';
  if (name.includes('/')) {
    const path = resolve(cwd, name);
    if (await isProgram(path)) return path;
    why = existsSync(path) ? 'is not an executable file' : 'does not exist';
  } else {
    const found = await findOnPath(name, env['PATH']);
    if (found !== undefined) return found;
  }
  throw new BridgeError(
    'TASK_START_FAILED',
    `The program ${JSON.stringify(name)} cannot be started: it ${why}.`,
    'Give the full path of an executable program, or correct PATH.',
  );
}
