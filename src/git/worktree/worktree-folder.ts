import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BridgeError, messageOf, systemCodeOf } from '../../base/errors.js';
import { makeFolders } from '../../base/files/make-folders.js';
import { WORKTREES_FOLDER } from '../../projects/worktree-path.js';
import type { AllowedPath, AllowedRoots } from '../../projects/allowed-roots.js';

/** Less the umask: as git makes its folders. */
const FOLDER_MODE = 0o777;
const IGNORE_ALL = '# Written by claude-code-bridge: worktrees of tasks are not for the repository.\n*\n';

/**
 * The folder for the worktrees of a repository, made if need be; it hides itself from git. Throws PATH_NOT_ALLOWED where a link
 * stands in its way, NOT_WRITABLE.
 */
export async function worktreesFolder(roots: AllowedRoots, top: AllowedPath): Promise<AllowedPath> {
  const folder = join(top, WORKTREES_FOLDER);
  try {
    // Judged before anything is made, since a link would be followed, and after it, since it may have been put there.
    await requireReal(roots, folder);
    await makeFolders(folder, FOLDER_MODE);
    await writeFile(join(folder, '.gitignore'), IGNORE_ALL, { flag: 'wx' }).catch((error: unknown) => {
      if (systemCodeOf(error) !== 'EEXIST') throw error;
    });
    return await requireReal(roots, folder);
  } catch (error) {
    if (error instanceof BridgeError) throw error;
    throw new BridgeError(
      'NOT_WRITABLE',
      `No worktree can be made in ${folder}: ${messageOf(error)}.`,
      'Make the folder writable, or start the task without a worktree.',
      { cause: error },
    );
  }
}

async function requireReal(roots: AllowedRoots, folder: string): Promise<AllowedPath> {
  const real = await roots.resolve(folder);
  if (real === folder) return real;
  throw new BridgeError(
    'PATH_NOT_ALLOWED',
    `The folder for worktrees ${folder} is a link, to ${real}.`,
    'Remove the link, or start the task without a worktree.',
  );
}
