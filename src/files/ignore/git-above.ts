import { closeSync, constants, lstatSync, openSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemCodeOf } from '../../base/errors.js';

/** The beginning of a `.git` file that points to a repository. */
const POINTER = 'gitdir: ';

/** True when `.git` exists at `path` or above; otherwise git need not run. */
export function hasGitAbove(path: string): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    if (kindOf(join(folder, '.git')) !== 'missing') return true;
    if (folder === dirname(folder)) return false;
  }
}

/**
 * False when an ignore file from `path` up to the top of its repository is a special file: git would wait for a named pipe
 * forever.
 */
export function gitCanReadRules(path: string): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    if (kindOf(join(folder, '.gitignore')) === 'special') return false;
    if (kindOf(join(folder, '.git')) !== 'missing')
      return kindOf(join(folder, '.git', 'info', 'exclude')) !== 'special';
    if (folder === dirname(folder)) return true;
  }
}

/** True for a folder with a `.git` folder or with a `.git` file that points to one, as for git. */
export function isRepository(folder: string): boolean {
  const git = join(folder, '.git');
  const kind = kindOf(git);
  return kind === 'file' ? startOf(git, POINTER.length) === POINTER : kind === 'folder' || kind === 'link';
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
function kindOf(path: string): 'missing' | 'file' | 'folder' | 'link' | 'special' {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return 'missing';
    if (stats.isFile()) return 'file';
    if (stats.isDirectory()) return 'folder';
    return stats.isSymbolicLink() ? 'link' : 'special';
  } catch (thrown) {
    // git cannot open an inaccessible path either.
    if (systemCodeOf(thrown) !== undefined) return 'missing';
    throw thrown;
  }
}
