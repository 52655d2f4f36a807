import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemCodeOf } from './errors.js';

/**
 * Makes a folder and the parents that are missing, each with `mode` less the umask. A folder that exists is left as it is.
 * Throws the system's fault.
 *
 * `mkdir` with `recursive` reports ENOENT on a read-only disk (Node.js 20 to 24); this reports EROFS.
 */
export async function makeFolders(path: string, mode: number): Promise<void> {
  try {
    await makeFolder(path, mode);
  } catch (fault) {
    if (systemCodeOf(fault) !== 'ENOENT' || dirname(path) === path) throw fault;
    await makeFolders(dirname(path), mode);
    await makeFolder(path, mode);
  }
}

async function makeFolder(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (fault) {
    // It may exist already, or another process made it at the same moment.
    if (!(await isFolder(path))) throw fault;
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // Missing or closed to us: `mkdir` reports which.
    return false;
  }
}
