import { constants, existsSync, mkdtempSync } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { BridgeError, messageOf, systemCodeOf } from '../errors.js';
import { createSecret } from '../ids.js';

const OWNER_ONLY = 0o700;

export interface AtomicWrite {
  readonly mode: number;
  /** False skips the fsyncs: the file survives a crash of the process, but perhaps not one of the machine. */
  readonly durable: boolean;
}

/**
 * Replaces a file atomically (temp file in the same folder, fsync, rename, fsync of the folder): a reader finds the whole old or
 * the whole new content, also after a crash. A link at `path` is replaced, not followed. When it throws the system's error, the
 * old content is in place and no temp file is left.
 *
 * The package write-file-atomic is not used: it follows links, opens a guessable temp name without O_EXCL, takes a short write
 * on a full disk for success, and does not fsync the folder.
 */
export async function replaceFile(path: string, text: string | Buffer, how: AtomicWrite): Promise<void> {
  const folder = dirname(path);
  // A name made from the file's own may be longer than the file system allows.
  const temporary = join(folder, `.${createSecret()}.tmp`);
  try {
    const file = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, how.mode);
    try {
      // The umask may have removed bits that the caller asked for.
      await file.chmod(how.mode);
      await file.writeFile(text);
      if (how.durable) await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    if (how.durable) await syncFolder(folder);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {
      // The first error is the one to report; a failed removal adds nothing to it.
    });
    throw error;
  }
}

/** Makes the names in a folder survive a power loss. Throws the system's error. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } catch (error) {
    // Some file systems (network, FUSE) do not support fsync of a folder; the rename itself has happened.
    if (!['EINVAL', 'ENOTSUP', 'EOPNOTSUPP'].includes(systemCodeOf(error) ?? '')) throw error;
  } finally {
    await handle.close();
  }
}

/**
 * Makes a folder and its missing parents, each with `mode` minus the umask. An existing folder is left as it is. When it resolves,
 * the new names are on disk, so a durable file below them is found after a power loss. Throws the system's error.
 *
 * `mkdir` with `recursive` reports ENOENT on a read-only disk (Node.js 20 to 24); this reports EROFS.
 */
export async function makeFolders(path: string, mode: number): Promise<void> {
  try {
    await makeFolder(path, mode);
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolders(dirname(path), mode);
    await makeFolder(path, mode);
  }
}

/** The same for a folder whose parent is there: throws ENOENT where that is gone. */
export async function makeFolder(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    // It may exist, or another process has just made it. When it is missing or not accessible, `mkdir` reported which.
    if (
      await stat(path).then(
        (facts) => facts.isDirectory(),
        () => false,
      )
    )
      return;
    throw error;
  }
  await syncFolder(dirname(path)).catch((error: unknown) => {
    // A parent that may be passed through but not listed (mode 0711) cannot be opened for fsync.
    if (systemCodeOf(error) !== 'EACCES') throw error;
  });
}

/**
 * Calls `make` with the system's temporary folder, which is made again when it was removed: some systems clean it while a server
 * runs. Throws NOT_WRITABLE.
 */
export async function inTempFolder<T>(make: (place: string) => T | Promise<T>): Promise<T> {
  try {
    if (!existsSync(tmpdir())) await makeFolders(tmpdir(), OWNER_ONLY);
    return await make(tmpdir());
  } catch (error) {
    throw tempFolderFault(error);
  }
}

/** Makes a folder with a new name in the temporary folder. Throws NOT_WRITABLE. */
export async function makeTempFolder(prefix: string): Promise<string> {
  return inTempFolder((place) => mkdtempSync(join(place, prefix)));
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
function tempFolderFault(error: unknown): unknown {
  if (systemCodeOf(error) === undefined) return error;
  return new BridgeError(
    'NOT_WRITABLE',
    `The temporary folder ${tmpdir()} cannot be used: ${messageOf(error).split(', ', 1)[0] ?? ''}.`,
    'Make it again or free space in it, or restart the server with TMPDIR set to another folder.',
    { cause: error },
  );
}
