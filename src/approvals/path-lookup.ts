import { lstat, readdir } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { systemCodeOf } from '../base/errors.js';
import { realPathOfNearest } from '../projects/real-path.js';

/** The names in a larger folder are not read. */
const MAX_NAMES = 2_000;

/** The part of the file system that rules use. */
export interface PathLookup {
  /** The real path, as the kernel would resolve it; for a path that does not exist, where it would be created. */
  readonly resolve: (folder: string, path: string) => Promise<string>;
  /** Names in a folder; undefined when they cannot be read or there are too many. */
  readonly names: (folder: string) => Promise<readonly string[] | undefined>;
  readonly exists: (path: string) => Promise<boolean>;
}

/** The real file system. */
export const realLookup: PathLookup = { resolve: resolveReally, names: namesIn, exists };

async function resolveReally(folder: string, path: string): Promise<string> {
  const whole = isAbsolute(path) ? path : join(folder, path);
  if (!path.split('/').includes('..')) return realPathOfNearest(whole);
  // `link/..` is the parent of the link's target, not the folder that contains the link.
  let at = isAbsolute(path) ? '/' : await realPathOfNearest(folder);
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue;
    at = name === '..' ? dirname(at) : await realPathOfNearest(join(at, name));
  }
  return at;
}

async function namesIn(folder: string): Promise<readonly string[] | undefined> {
  try {
    const names = await readdir(folder);
    return names.length > MAX_NAMES ? undefined : names;
  } catch (error) {
    // Whatever the reason, the names are unknown.
    if (systemCodeOf(error) !== undefined) return undefined;
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (systemCodeOf(error) !== undefined) return false;
    throw error;
  }
}
