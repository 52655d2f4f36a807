import { constants } from 'node:fs';
import { copyFile, stat, utimes } from 'node:fs/promises';
import { systemCodeOf } from '../../base/errors.js';

/**
 * Copies the index of a repository, if there is one. The copy keeps its time: git reads files again that changed in the second in
 * which the index was written, and would take them for unchanged with a later one.
 */
export async function copyIndex(from: string, to: string): Promise<void> {
  try {
    const { atime, mtime } = await stat(from);
    await copyFile(from, to, constants.COPYFILE_EXCL);
    await utimes(to, atime, mtime);
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
  }
}
