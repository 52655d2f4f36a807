import { stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { systemCodeOf } from '../base/errors.js';
import { expandHome } from '../config/home-path.js';

/** Why the folder cannot be an allowed root, and what to write instead; undefined for one that can. */
export async function rootFault(root: string, homeDir: string, cwd: string): Promise<string | undefined> {
  if (root === '') return 'A folder is missing: the name is empty.';
  const expanded = expandHome(root, homeDir);
  if (expanded.includes('\0')) return 'A path cannot hold a NUL character.';
  if (expanded.startsWith('~')) {
    return `${root} names another user's home, which is not looked up: write the absolute path.`;
  }
  if (!isAbsolute(expanded)) return `${root} is relative: write ${resolve(cwd, root)} if you mean that.`;
  try {
    return (await stat(expanded)).isDirectory() ? undefined : `${root} is not a folder.`;
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === undefined) throw thrown;
    return code === 'ENOENT' ? `${root} does not exist.` : `${root} cannot be looked at (${code}).`;
  }
}
