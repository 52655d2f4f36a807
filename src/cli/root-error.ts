import { stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { systemCodeOf } from '../base/errors.js';
import { expandHome } from '../config/home-path.js';

export interface RootError {
  /** PATH_NOT_FOUND for a folder that does not exist. */
  readonly code: 'PATH_NOT_FOUND' | 'INVALID_ARGUMENTS';
  /** Why the folder cannot be an allowed root, and what to write instead. */
  readonly words: string;
}

/** Undefined for a folder that can be an allowed root. */
export async function rootError(root: string, homeDir: string, cwd: string): Promise<RootError | undefined> {
  const words = wrongPath(root, homeDir, cwd);
  if (words !== undefined) return { code: 'INVALID_ARGUMENTS', words };
  try {
    const isFolder = (await stat(expandHome(root, homeDir))).isDirectory();
    return isFolder ? undefined : { code: 'INVALID_ARGUMENTS', words: `${root} is not a folder.` };
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === undefined) throw thrown;
    return code === 'ENOENT'
      ? { code: 'PATH_NOT_FOUND', words: `${root} does not exist.` }
      : { code: 'INVALID_ARGUMENTS', words: `${root} cannot be read (${code}).` };
  }
}

function wrongPath(root: string, homeDir: string, cwd: string): string | undefined {
  if (root === '') return 'The path of a folder is empty.';
  const expanded = expandHome(root, homeDir);
  if (expanded.includes('\0')) return 'A path cannot contain a NUL character.';
  if (expanded.startsWith('~')) {
    return `${root} is the home of another user, which is not supported: write the absolute path.`;
  }
  return isAbsolute(expanded)
    ? undefined
    : `${root} is a relative path. If you mean ${resolve(cwd, root)}, write that.`;
}
