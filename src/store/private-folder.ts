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
  try {
    await makeFolders(path, OWNER_ONLY);
  } catch (error) {
    // What exists at the path says more than EEXIST.
    const what = await kindOf(path);
    if (what !== undefined && what !== 'a folder')
      throw unusable(path, `is ${what}, not a folder`, hint, error);
    throw unusable(path, `cannot be created: ${messageOf(error)}`, hint, error);
  }
  try {
    const facts = await lstat(path);
    if (facts.isSymbolicLink()) throw unusable(path, 'is a link, not a folder', hint);
    if (facts.uid !== uid) {
      throw unusable(path, `belongs to user ${facts.uid}, and the bridge runs as user ${uid}`, hint);
    }
    await mayTake?.(path);
    if (!isPrivate(facts)) await chmod(path, OWNER_ONLY);
  } catch (error) {
    if (error instanceof BridgeError) throw error;
    throw unusable(path, `cannot be kept private: ${messageOf(error)}`, hint, error);
  }
}

/** What exists at a path, in words; undefined when nothing does or it is not accessible. */
async function kindOf(path: string): Promise<string | undefined> {
  try {
    const facts = await lstat(path);
    if (facts.isSymbolicLink()) return 'a link';
    if (facts.isDirectory()) return 'a folder';
    return facts.isFile() ? 'a file' : 'a special file';
  } catch {
    // The caller has the error that matters.
    return undefined;
  }
}

function unusable(path: string, what: string, hint: string, cause?: unknown): BridgeError {
  return new BridgeError('STATE_UNUSABLE', `The folder ${path} ${what}.`, hint, { cause });
}

/** Whether a file or folder is this user's alone. */
export function isPrivate({ uid, mode }: { readonly uid: number; readonly mode: number }): boolean {
  return uid === (process.getuid?.() ?? uid) && (mode & FOR_OTHERS) === 0;
}
