import { fstatSync, readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { systemCodeOf } from '../../base/errors.js';
import type { CachedNames, FolderNames } from './cached-names.js';
import { compareNames } from './list-order.js';
import { typeOf, walkEntry } from './walk-entry.js';

/** A folder to read. */
export interface NamedFolder {
  readonly fdPath: string;
  readonly fd: number | undefined;
  /** Number of a local device, as in `stat`; a folder on it is read synchronously. */
  readonly localDev: number | undefined;
}

/** The names in a folder, or the system's error code when they cannot be read. */
export async function namesIn(
  { fdPath, fd, localDev }: NamedFolder,
  cache: CachedNames,
): Promise<FolderNames | { readonly error: string }> {
  try {
    const stats = fd === undefined ? undefined : fstatSync(fd);
    // Times on a remote file system come from another clock.
    const local = stats?.dev === localDev ? stats : undefined;
    const known = local === undefined ? undefined : cache.get(local);
    if (known !== undefined) return known;
    const canCache = local !== undefined && cache.canCache(local);
    const found =
      local === undefined
        ? await readdir(fdPath, { withFileTypes: true })
        : readdirSync(fdPath, { withFileTypes: true });
    const ignoreFile = found.find(({ name }) => name === '.gitignore');
    const names: FolderNames = {
      entries: found
        .filter(({ name }) => name !== '.git')
        .map(walkEntry)
        .sort(compareNames),
      hasGit: found.some(({ name }) => name === '.git'),
      hasPipe: ignoreFile !== undefined && typeOf(ignoreFile) === 'other',
    };
    if (canCache) cache.set(local, names);
    return names;
  } catch (thrown) {
    const error = systemCodeOf(thrown);
    if (error === undefined) throw thrown;
    return { error };
  }
}
