import { lstat, readdir } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { systemCodeOf } from '../base/errors.js';
import { realPathOfNearest } from '../projects/real-path.js';

/** A folder with more names than this is not looked through. */
const MAX_NAMES = 2_000;

/** What rules ask of the file system. */
export interface Places {
  /** Where a path really leads, as the kernel would walk it; of what does not exist, where it would be made. */
  readonly resolve: (folder: string, path: string) => Promise<string>;
  /** Names in a folder; undefined when they cannot be had, or are too many. */
  readonly names: (folder: string) => Promise<readonly string[] | undefined>;
  readonly exists: (path: string) => Promise<boolean>;
}

/** The real file system. */
export const realPlaces: Places = { resolve: resolveReally, names: namesIn, exists };

async function resolveReally(folder: string, path: string): Promise<string> {
  const whole = isAbsolute(path) ? path : join(folder, path);
  if (!path.split('/').includes('..')) return realPathOfNearest(whole);
  // `link/..` is the folder that the link leads to, not the one it lies in.
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
    // Whatever keeps us from looking: what is in there is then not known.
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
