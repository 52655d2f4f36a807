import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BridgeError, messageOf, systemCodeOf } from '../../base/errors.js';
import { makeFolders } from '../../base/files/folders.js';
import { WORKTREES_FOLDER } from '../../projects/worktree-path.js';
import type { AllowedPath, AllowedRoots } from '../../projects/allowed-roots.js';

/** Before the umask, like folders that git creates. */
const FOLDER_MODE = 0o777;
const IGNORE_ALL = '# Written by claude-code-bridge: worktrees of tasks are not for the repository.\n*\n';

/**
 * The folder for the worktrees of a repository, created if missing, with a `.gitignore` that hides it. Throws NOT_WRITABLE, and
 * PATH_NOT_ALLOWED when a part of its path is a link.
 */
export async function worktreesFolder(roots: AllowedRoots, top: AllowedPath): Promise<AllowedPath> {
  const folder = join(top, WORKTREES_FOLDER);
  try {
    // Checked before creating anything, since links are followed, and again afterwards, since one may have been added meanwhile.
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
      `Cannot create a worktree in ${folder}: ${messageOf(error)}.`,
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
    `The worktrees folder ${folder} is a link to ${real}.`,
    'Remove the link, or start the task without a worktree.',
  );
}
