import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** The first executable file of that name on `path`, or undefined. */
export async function findOnPath(name: string, path: string | undefined): Promise<string | undefined> {
  for (const folder of (path ?? '').split(delimiter)) {
    // An empty or relative part would look into whatever directory we were started in.
    if (!folder.startsWith('/')) continue;
    const candidate = join(folder, name);
    if (await isProgram(candidate)) return candidate;
  }
  return undefined;
}

/** False for what is not there, is no regular file, or may not be executed. */
export async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false; // Not there, or not ours to run.
  }
}
