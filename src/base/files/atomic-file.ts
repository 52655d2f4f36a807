import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemCodeOf } from '../errors.js';

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
export async function replaceFile(
  path: string,
  text: string | Buffer,
  { mode, durable }: AtomicWrite,
): Promise<void> {
  const folder = dirname(path);
  // A name made from the file's own may be longer than the file system allows.
  const temporary = join(folder, `.${randomBytes(12).toString('hex')}.tmp`);
  try {
    const file = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
    try {
      // The umask may have removed bits that the caller asked for.
      await file.chmod(mode);
      await file.writeFile(text);
      if (durable) await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    if (durable) await syncFolder(folder);
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
