import { stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { systemCodeOf } from '../base/errors.js';
import { expandHome } from '../config/home-path.js';

/** Why the folder cannot be an allowed root, and what to write instead; undefined for one that can. */
export async function rootError(root: string, homeDir: string, cwd: string): Promise<string | undefined> {
  if (root === '') return 'The path of a folder is empty.';
  const expanded = expandHome(root, homeDir);
  if (expanded.includes('\0')) return 'A path cannot contain a NUL character.';
  if (expanded.startsWith('~')) {
    return `${root} is the home of another user, which is not supported: write the absolute path.`;
  }
  if (!isAbsolute(expanded))
    return `${root} is a relative path. If you mean ${resolve(cwd, root)}, write that.`;
  try {
    return (await stat(expanded)).isDirectory() ? undefined : `${root} is not a folder.`;
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === undefined) throw thrown;
    return code === 'ENOENT' ? `${root} does not exist.` : `${root} cannot be read (${code}).`;
  }
}
