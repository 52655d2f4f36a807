import { closeSync, constants, lstatSync, openSync, readSync, statSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemCodeOf } from '../../base/errors.js';

export const MAX_RULES_BYTES = 256 * 1024;
/** The beginning of a `.git` file that points to a repository. */
const POINTER = 'gitdir: ';

/** True when `.git` exists at `path` or above; otherwise git need not run. */
export function hasGitAbove(path: string): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    if (statsOf(join(folder, '.git')) !== undefined) return true;
    if (folder === dirname(folder)) return false;
  }
}

/** False when git would take long to read an ignore file from `path` up to the top of its repository, or would wait for it forever. */
export function gitCanReadRules(path: string): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    if (!isUsual(join(folder, '.gitignore'))) return false;
    if (statsOf(join(folder, '.git')) !== undefined) return isUsual(join(folder, '.git', 'info', 'exclude'));
    if (folder === dirname(folder)) return true;
  }
}

/** True for a folder with a `.git` folder or with a `.git` file that points to one, as for git. */
export function isRepository(folder: string): boolean {
  const git = join(folder, '.git');
  const stats = statsOf(git);
  if (stats?.isFile() === true) return startOf(git, POINTER.length) === POINTER;
  return stats?.isDirectory() === true || stats?.isSymbolicLink() === true;
}

/** The first bytes of a file; `''` when it cannot be read. */
function startOf(path: string, length: number): string {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const bytes = Buffer.alloc(length);
    return bytes.toString('latin1', 0, readSync(fd, bytes, 0, length, 0));
  } catch (thrown) {
    if (systemCodeOf(thrown) !== undefined) return '';
    throw thrown;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Synchronous: the path was just opened, so each of its folders is in memory. */
function statsOf(path: string, read: typeof lstatSync = lstatSync): Stats | undefined {
  try {
    return read(path, { throwIfNoEntry: false });
  } catch (thrown) {
    // git cannot open an inaccessible path either.
    if (systemCodeOf(thrown) !== undefined) return undefined;
    throw thrown;
  }
}

/** True for what an ignore file leads to when it is missing, a folder, or a file that is read at once: no pipe and no terminal. */
function isUsual(path: string): boolean {
  const stats = statsOf(path, statSync);
  return stats === undefined || stats.isDirectory() || (stats.isFile() && stats.size <= MAX_RULES_BYTES);
}
