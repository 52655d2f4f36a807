import { chmod, lstat } from 'node:fs/promises';
import { BridgeError, messageOf } from '../base/errors.js';
import { makeFolders } from '../base/files/make-folders.js';

const OWNER_ONLY = 0o700;
const FOR_OTHERS = 0o077;

/**
 * Makes sure that `path` is a folder that only user `uid` can enter: makes it (with its parents) when it is missing, takes
 * away the access of others when there is some. Throws BridgeError STATE_UNUSABLE when it is a link, not a folder, another
 * user's, or cannot be made; `wayOut` is the sentence that says which setting leads elsewhere.
 */
export async function ensurePrivateFolder(path: string, uid: number, wayOut: string): Promise<void> {
  try {
    await makeFolders(path, OWNER_ONLY);
  } catch (error) {
    // What stands at the path says more than "file exists".
    const what = await kindOf(path);
    if (what !== undefined && what !== 'a folder')
      throw unusable(path, `is ${what}, not a folder`, wayOut, error);
    throw unusable(path, `cannot be made: ${messageOf(error)}`, wayOut, error);
  }
  try {
    const facts = await lstat(path);
    if (facts.isSymbolicLink()) throw unusable(path, 'is a link, not a folder', wayOut);
    if (facts.uid !== uid) {
      throw unusable(path, `belongs to user ${facts.uid}, and the bridge runs as user ${uid}`, wayOut);
    }
    if ((facts.mode & FOR_OTHERS) !== 0) await chmod(path, OWNER_ONLY);
  } catch (error) {
    if (error instanceof BridgeError) throw error;
    throw unusable(path, `cannot be kept private: ${messageOf(error)}`, wayOut, error);
  }
}

/** What stands at a path, in words; undefined when nothing does or it cannot be seen. */
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

function unusable(path: string, what: string, wayOut: string, cause?: unknown): BridgeError {
  return new BridgeError('STATE_UNUSABLE', `The folder ${path} ${what}.`, wayOut, { cause });
}
