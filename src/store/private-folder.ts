import { chmod, lstat } from 'node:fs/promises';
import { BridgeError, messageOf } from '../base/errors.js';
import { makeFolders } from '../base/files/folders.js';

const OWNER_ONLY = 0o700;
const FOR_OTHERS = 0o077;

/**
 * Makes sure that `path` is a folder that only user `uid` can enter: creates it and its parents if missing, and removes the access of
 * others. Throws BridgeError STATE_UNUSABLE when it is a link, is not a folder, belongs to another user, or cannot be created; `hint`
 * says which setting selects another folder. `mayTake` throws for a folder of this user that is to stay as it is.
 */
export async function ensurePrivateFolder(
  path: string,
  uid: number,
  hint: string,
  mayTake?: (path: string) => Promise<void>,
): Promise<void> {
  const unusable = (what: string, cause?: unknown): BridgeError =>
    new BridgeError('STATE_UNUSABLE', `The folder ${path} ${what}.`, hint, { cause });
  const notMade = await makeFolders(path, OWNER_ONLY).then(
    () => undefined,
    (error: unknown) => unusable(`cannot be created: ${messageOf(error)}`, error),
  );
  try {
    // What exists at the path says more than EEXIST.
    const facts = await lstat(path).catch(() => undefined);
    if (facts?.isSymbolicLink() === true) throw unusable('is a link, not a folder');
    if (facts?.isDirectory() === false) throw unusable('is a file, not a folder');
    if (notMade !== undefined || facts === undefined) throw notMade ?? unusable('is gone again');
    if (facts.uid !== uid) throw unusable(`belongs to user ${facts.uid}, and the bridge runs as user ${uid}`);
    await mayTake?.(path);
    if (!isPrivate(facts)) await chmod(path, OWNER_ONLY);
  } catch (error) {
    if (error instanceof BridgeError) throw error;
    throw unusable(`cannot be kept private: ${messageOf(error)}`, error);
  }
}

/** Whether a file or folder is this user's alone. */
export function isPrivate({ uid, mode }: { readonly uid: number; readonly mode: number }): boolean {
  return uid === (process.getuid?.() ?? uid) && (mode & FOR_OTHERS) === 0;
}
