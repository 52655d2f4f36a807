import { fstatSync, readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { systemCodeOf } from '../../base/errors.js';
import { compareNames } from './list-order.js';
import { typeOf, walkEntry, type WalkEntry } from './walk-entry.js';

/** The names in one folder. */
export interface FolderNames {
  /** Sorted, without `.git`. */
  readonly entries: readonly WalkEntry[];
  /** True when the folder contains `.git`. */
  readonly hasGit: boolean;
  /** True when `.gitignore` is a named pipe or a device, on which a reader could block. */
  readonly hasPipe: boolean;
}

/** A folder to read. */
export interface NamedFolder {
  readonly fdPath: string;
  readonly fd: number | undefined;
  /** Number of a local device, as in `stat`; a folder on it is read synchronously. */
  readonly localDev: number | undefined;
}

/** The names in a folder, or the system's error code when they cannot be read. */
export async function namesIn({
  fdPath,
  fd,
  localDev,
}: NamedFolder): Promise<FolderNames | { readonly error: string }> {
  try {
    const isLocal = fd !== undefined && fstatSync(fd).dev === localDev;
    const found = isLocal
      ? readdirSync(fdPath, { withFileTypes: true })
      : await readdir(fdPath, { withFileTypes: true });
    const ignoreFile = found.find(({ name }) => name === '.gitignore');
    return {
      entries: found
        .filter(({ name }) => name !== '.git')
        .map(walkEntry)
        .sort(compareNames),
      hasGit: found.some(({ name }) => name === '.git'),
      hasPipe: ignoreFile !== undefined && typeOf(ignoreFile) === 'other',
    };
  } catch (thrown) {
    const error = systemCodeOf(thrown);
    if (error === undefined) throw thrown;
    return { error };
  }
}
