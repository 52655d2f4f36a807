import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemCodeOf } from '../errors.js';

export interface AtomicWrite {
  readonly mode: number;
  /** False leaves out the fsyncs: whole after a crash of the process, not after one of the machine. */
  readonly durable: boolean;
}

/**
 * Replaces a file, so that a reader, also one after a crash, finds the old or the new content whole: temp file in the same
 * folder, fsync, rename, fsync of the folder. A link at `path` is replaced, not followed. Throws the system's error, with the
 * old content in place and no temp file left.
 *
 * Own lines because write-file-atomic follows links, opens a guessable temp name without O_EXCL, takes a short write of a
 * full disk for success, and does not fsync the folder.
 */
export async function replaceFile(path: string, text: string, { mode, durable }: AtomicWrite): Promise<void> {
  const folder = dirname(path);
  // A name of its own: one made from the file's may be longer than a file system takes.
  const temporary = join(folder, `.${randomBytes(12).toString('hex')}.tmp`);
  try {
    const file = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
    try {
      // The umask may have taken bits away that the caller asked for.
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
      // The first error is the one to tell; a disk that also refuses the removal adds nothing to it.
    });
    throw error;
  }
}

/** Puts the names in a folder on disk, also for a power loss. Throws the system's error. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } catch (error) {
    // Some file systems (network, FUSE) know no fsync of a folder; the rename itself has happened.
    if (!['EINVAL', 'ENOTSUP', 'EOPNOTSUPP'].includes(systemCodeOf(error) ?? '')) throw error;
  } finally {
    await handle.close();
  }
}
