import { mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { BridgeError, ignoreBridgeError, systemCodeOf } from '../../base/errors.js';
import { oneLine } from '../../base/text.js';
import type { OpenedDirectory } from '../../projects/opened-path.js';
import type { PathOpener } from '../../projects/path-opener.js';

const SHOWN_CHARS = 400;
const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is exceeded',
  EROFS: 'the file system is read-only',
  EACCES: 'permission is denied',
  EPERM: 'the system does not permit it',
  ENAMETOOLONG: 'its name is too long',
};

/** Rejects for an absolute path, as given or real, that must not be written. */
export type WriteGuard = (path: string) => Promise<void>;

export interface MadeDirectory {
  /** Open; the caller closes it. */
  readonly directory: OpenedDirectory;
  /** The outermost new directory; undefined when all existed. */
  readonly outermost: string | undefined;
}

/**
 * Opens the directory `real` and creates missing ones name by name, each in its open and checked parent, so that nothing is created
 * outside the roots. `refuse` is called with the real path of each new directory and rejects if it is protected. Throws like
 * `PathOpener`, and NOT_WRITABLE.
 */
export async function makeDirectories(
  opener: PathOpener,
  real: string,
  refuse: WriteGuard,
): Promise<MadeDirectory> {
  const missing: string[] = [];
  let directory = await openIfExists(opener, real);
  for (let at = real; directory === undefined;) {
    missing.unshift(basename(at));
    at = dirname(at);
    directory = await openIfExists(opener, at).catch((thrown: unknown) => {
      throw thrown instanceof BridgeError && thrown.code === 'PATH_NOT_ALLOWED' ? rootMissing(real) : thrown;
    });
  }
  let outermost: string | undefined;
  for (const name of missing) {
    const parent: OpenedDirectory = directory;
    const path = join(parent.path, name);
    try {
      await refuse(path);
      // Another program may have created it meanwhile.
      const isNew = await mkdir(parent.entry(name)).then(
        () => true,
        (thrown: unknown) => {
          if (systemCodeOf(thrown) === 'EEXIST') return false;
          throw notWritable(path, thrown);
        },
      );
      if (isNew) outermost ??= path;
      directory = await opener.directoryIn(parent, name);
    } finally {
      await parent.handle.close();
    }
    if (directory === undefined)
      throw new BridgeError(
        'FILE_CHANGED',
        `'${shownPath(path)}' was replaced while the directory was being created.`,
        'Find out what replaces it, or try again later.',
      );
  }
  return { directory, outermost };
}

async function openIfExists(opener: PathOpener, path: string): Promise<OpenedDirectory | undefined> {
  return opener.openDirectory(path).catch((thrown: unknown) => {
    if (thrown instanceof BridgeError && thrown.code === 'PATH_NOT_FOUND') return undefined;
    throw thrown;
  });
}

/** The path, as JSON, of another name beside what is new that looks like it. A folder that cannot be opened names nothing. */
export async function alikeOf(opener: PathOpener, made: string | undefined): Promise<string | undefined> {
  return made === undefined ? undefined : opener.lookAlike(made).catch(ignoreBridgeError);
}

export function shownPath(path: string): string {
  return oneLine(path, SHOWN_CHARS);
}

/** Converts a system error of writing; rethrows any other error. */
export function notWritable(path: string, thrown: unknown): BridgeError {
  const code = systemCodeOf(thrown);
  if (code === undefined) throw thrown;
  return new BridgeError(
    'NOT_WRITABLE',
    `Path '${shownPath(path)}' cannot be written: ${REASONS[code] ?? code}.`,
    'Correct the path, or make it writable.',
    { cause: thrown },
  );
}

function rootMissing(real: string): BridgeError {
  return new BridgeError(
    'PATH_NOT_FOUND',
    `Path '${shownPath(real)}' is in an allowed root that does not exist.`,
    'Create the root.',
  );
}
