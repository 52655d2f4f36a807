import { fstatSync, readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { systemCodeOf } from '../../base/errors.js';
import type { CachedNames, FolderNames } from './cached-names.js';
import { compareNames } from './list-order.js';
import { typeOf, walkEntry } from './walk-entry.js';

/** A folder to be read. */
export interface NamedFolder {
  readonly place: string;
  readonly fd: number | undefined;
  /** The device known to be a local one, as `stat` gives it: what is on it is read synchronously. */
  readonly localDev: number | undefined;
}

/** The names in a folder, or the system's code when they cannot be read. */
export async function namesIn(
  { place, fd, localDev }: NamedFolder,
  cache: CachedNames,
): Promise<FolderNames | { readonly fault: string }> {
  try {
    const stats = fd === undefined ? undefined : fstatSync(fd);
    // The times of another machine's file system are of another clock.
    const local = stats?.dev === localDev ? stats : undefined;
    const known = local === undefined ? undefined : cache.of(local);
    if (known !== undefined) return known;
    const isSettled = local !== undefined && cache.isSettled(local);
    const found =
      local === undefined
        ? await readdir(place, { withFileTypes: true })
        : readdirSync(place, { withFileTypes: true });
    const ignoreFile = found.find(({ name }) => name === '.gitignore');
    const names: FolderNames = {
      entries: found
        .filter(({ name }) => name !== '.git')
        .map(walkEntry)
        .sort(compareNames),
      hasGit: found.some(({ name }) => name === '.git'),
      hasPipe: ignoreFile !== undefined && typeOf(ignoreFile) === 'other',
    };
    if (isSettled) cache.keep(local, names);
    return names;
  } catch (thrown) {
    const error = systemCodeOf(thrown);
    if (error === undefined) throw thrown;
    return { fault: error };
  }
}
