import { mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { BridgeError, systemCodeOf, ignoreBridgeError } from '../../base/errors.js';
import { oneLine } from '../../base/text.js';
import type { OpenedDirectory } from '../../projects/opened-path.js';
import type { PathOpener } from '../../projects/path-opener.js';
import type { WriteGuard } from './protected-path.js';
import { notWritable } from './not-writable.js';

const SHOWN_CHARS = 400;

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
    try {
      await refuse(join(parent.path, name));
      if (await createOne(parent, name)) outermost ??= join(parent.path, name);
      directory = await opener.directoryIn(parent, name);
    } finally {
      await parent.handle.close();
    }
    if (directory === undefined) {
      throw new BridgeError(
        'FILE_CHANGED',
        `'${oneLine(name, SHOWN_CHARS)}' in '${oneLine(parent.path, SHOWN_CHARS)}' was replaced while the directory was being created.`,
        'Find out what replaces it, or try again later.',
      );
    }
  }
  return { directory, outermost };
}

/** The path, as JSON, of another name beside what is new that looks like it. A folder that cannot be opened names nothing. */
export async function alikeOf(opener: PathOpener, made: string | undefined): Promise<string | undefined> {
  return made === undefined ? undefined : opener.lookAlike(made).catch(ignoreBridgeError);
}

async function openIfExists(opener: PathOpener, path: string): Promise<OpenedDirectory | undefined> {
  try {
    return await opener.openDirectory(path);
  } catch (thrown) {
    if (thrown instanceof BridgeError && thrown.code === 'PATH_NOT_FOUND') return undefined;
    throw thrown;
  }
}

/** Returns false when it exists: another program may have created it meanwhile. */
async function createOne(parent: OpenedDirectory, name: string): Promise<boolean> {
  try {
    await mkdir(parent.entry(name));
    return true;
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'EEXIST') return false;
    throw notWritable(join(parent.path, name), thrown);
  }
}

function rootMissing(real: string): BridgeError {
  return new BridgeError(
    'PATH_NOT_FOUND',
    `Path '${oneLine(real, SHOWN_CHARS)}' is in an allowed root that does not exist.`,
    'Ask the user to create the root.',
  );
}
