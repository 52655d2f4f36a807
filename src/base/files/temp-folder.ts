import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BridgeError, messageOf, systemCodeOf } from '../errors.js';
import { makeFolders } from './make-folders.js';

const OWNER_ONLY = 0o700;

/**
 * Calls `make` with the system's temporary folder, which is made again when it was removed: some systems clean it while a server
 * runs. Throws NOT_WRITABLE.
 */
export async function inTempFolder<T>(make: (place: string) => Promise<T>): Promise<T> {
  const place = tmpdir();
  try {
    return await make(place).catch(async (error: unknown) => {
      if (systemCodeOf(error) !== 'ENOENT') throw error;
      await makeFolders(place, OWNER_ONLY);
      return make(place);
    });
  } catch (error) {
    throw tempFolderFault(error);
  }
}

/** Makes a folder with a new name in the temporary folder. Throws NOT_WRITABLE. */
export async function makeTempFolder(prefix: string): Promise<string> {
  return inTempFolder((place) => mkdtemp(join(place, prefix)));
}

/** Calls `use` with a new folder, and removes it afterwards. Throws NOT_WRITABLE, and what `use` throws. */
export async function withTempFolder<T>(prefix: string, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await makeTempFolder(prefix);
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The error for a temporary folder in which a file cannot be made; anything but an error of the system stays as it is. */
export function tempFolderFault(error: unknown): unknown {
  if (systemCodeOf(error) === undefined) return error;
  return new BridgeError(
    'NOT_WRITABLE',
    `The temporary folder ${tmpdir()} cannot be used: ${messageOf(error).split(', ', 1)[0] ?? ''}.`,
    'Make it again or free space in it, or restart the server with TMPDIR set to another folder.',
    { cause: error },
  );
}
