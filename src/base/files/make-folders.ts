import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from './atomic-file.js';
import { systemCodeOf } from '../errors.js';

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

async function makeFolder(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    // It may exist, or another process has just made it.
    if (!(await isFolder(path))) throw error;
    return;
  }
  await syncName(path);
}

/** Makes the name of this folder, which its parent stores, survive a power loss. */
async function syncName(path: string): Promise<void> {
  try {
    await syncFolder(dirname(path));
  } catch (error) {
    // A parent that may be passed through but not listed (mode 0711) cannot be opened for fsync.
    if (systemCodeOf(error) !== 'EACCES') throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // Missing or not accessible: `mkdir` reports which.
    return false;
  }
}
