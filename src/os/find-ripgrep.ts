import { realpath } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { findOnPath } from './find-on-path.js';

/**
 * The absolute path of ripgrep: the program of the optional package for this system, else the first `rg` on `path` that is really outside
 * of `roots`, since a project could have brought one. Undefined when there is none.
 */
export async function findRipgrep(
  path: string | undefined,
  roots: readonly string[],
  load: () => Promise<{ readonly rgPath: string }> = () => import('@vscode/ripgrep'),
): Promise<string | undefined> {
  try {
    return (await load()).rgPath;
  } catch {
    // The package throws where the one for this system is not installed.
  }
  for (const folder of (path ?? '').split(delimiter)) {
    const found = await findOnPath('rg', folder);
    const real = found === undefined ? undefined : await realpath(found);
    if (real !== undefined && !roots.some((root) => real.startsWith(join(root, '/')))) return found;
  }
  return undefined;
}
