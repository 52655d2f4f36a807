import { access, constants, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { BridgeError } from '../base/errors.js';

/**
 * The absolute path of a program as `execvp` would find it: a name with a slash is taken relative to `cwd`, any other is
 * searched in the PATH of `env`. Throws BridgeError TASK_START_FAILED when there is none, or none that may be executed.
 */
export async function findProgram(
  name: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  if (name.includes('/')) {
    const path = isAbsolute(name) ? name : resolve(cwd, name);
    const found = await checkProgram(path);
    if (found === 'executable') return path;
    throw failure(name, found === 'missing' ? 'does not exist' : 'is not an executable file');
  }
  let refused = false;
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    // An empty or relative part of PATH means a folder of the working directory: a repository could then choose the program.
    if (name === '' || !isAbsolute(folder)) continue;
    const path = join(folder, name);
    const found = await checkProgram(path);
    if (found === 'executable') return path;
    if (found === 'refused') refused = true;
  }
  throw failure(name, refused ? 'is on PATH but is not an executable file' : 'is not on PATH');
}

async function checkProgram(path: string): Promise<'executable' | 'refused' | 'missing'> {
  try {
    if (!(await stat(path)).isFile()) return 'refused';
  } catch {
    // Not there, or in a folder that may not be searched: for the caller the same.
    return 'missing';
  }
  try {
    await access(path, constants.X_OK);
    return 'executable';
  } catch {
    return 'refused';
  }
}

function failure(name: string, what: string): BridgeError {
  return new BridgeError(
    'TASK_START_FAILED',
    `The program ${JSON.stringify(name)} cannot be started: it ${what}.`,
    'Give the full path of an executable program, or correct PATH.',
  );
}
