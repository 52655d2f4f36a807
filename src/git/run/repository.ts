import { lstat, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { BridgeError, ignoreSystemError, systemCodeOf } from '../../base/errors.js';
import { readRegularFile } from '../../base/files/regular-file.js';
import { someNames } from '../../base/text.js';
import type { AllowedPath, AllowedRoots } from '../../projects/allowed-roots.js';

/** A `.git` file or the `commondir` of a worktree contains one path. */
const MAX_POINTER_BYTES = 8_192;

/** A repository whose folders are inside the allowed roots; `openGit` checks their contents. */
export interface Repository {
  /** Folder of the working tree, which contains `.git`. */
  readonly top: AllowedPath;
  readonly gitDir: AllowedPath;
  /** Equal to `gitDir`, except for a linked worktree, where it belongs to the main repository. */
  readonly commonDir: AllowedPath;
  /** The part of it that is meant, relative to the top; left out, all of it. */
  readonly within?: string | undefined;
}

/**
 * Finds the repository of a path as git does, from the folder upwards, but only within the allowed roots. Throws
 * NOT_A_REPOSITORY, also for a `.git` on the way that is none and for a folder of git itself, where git would answer for another
 * repository or not at all, unless `isBareEnough` and the path is the top of one; PATH_NOT_ALLOWED for a repository with folders outside the roots.
 */
export async function findRepository(
  roots: AllowedRoots,
  path: AllowedPath,
  isBareEnough = false,
): Promise<Repository> {
  let folder: AllowedPath | undefined = path;
  // From the nearest existing folder, since git also knows deleted files.
  while ((await kindOf(folder)) !== 'folder') folder = await roots.resolve(dirname(folder));
  for (
    let below = '';
    folder !== undefined && folder !== below;
    folder = await roots.admit(dirname(folder))
  ) {
    below = folder;
    const repository = await gitOf(roots, folder);
    if (repository !== undefined)
      return { ...repository, within: folder === path ? undefined : relative(folder, path) };
    if ((await faultOf(folder, folder)) !== undefined) continue;
    if (isBareEnough && folder === path) return { top: folder, gitDir: folder, commonDir: folder };
    throw await bareError(`'${folder}' is a bare repository or a .git folder`, folder);
  }
  throw new BridgeError(
    'NOT_A_REPOSITORY',
    `Path '${path}' is not in a git repository within the allowed roots.`,
    'Give a path in a repository, or create one.',
  );
}

/** The repository whose top is this folder. Throws NOT_A_REPOSITORY, and the errors of AllowedRoots. */
export async function repositoryAt(roots: AllowedRoots, top: string): Promise<Repository> {
  const found = await gitOf(roots, await roots.resolveDirectory(top));
  if (found !== undefined) return found;
  const message = `There is no git repository at ${top} any more.`;
  throw new BridgeError('NOT_A_REPOSITORY', message, 'Check whether it was moved or removed.');
}

/** The repository with this top; undefined without a `.git`. Throws NOT_A_REPOSITORY for one that is none, and PATH_NOT_ALLOWED. */
export async function gitOf(roots: AllowedRoots, top: AllowedPath): Promise<Repository | undefined> {
  const git = join(top, '.git');
  const isThere = await lstat(git).catch((thrown: unknown) => {
    const code = systemCodeOf(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw code === undefined ? thrown : notFollowed(`'${git}' cannot be reached (${code})`);
  });
  if (isThere === undefined) return undefined;
  // This follows a link, and refuses one that leads out of the roots.
  let gitDir = await roots.resolve(git);
  if ((await kindOf(gitDir)) === 'file') {
    const target = /^gitdir: ([^\0]+)$/.exec(await pointerText(gitDir))?.[1];
    if (target === undefined) throw notFollowed(`'${git}' is a file that names no repository`);
    // As for git, relative to the working tree, wherever a link leads.
    gitDir = await roots.resolve(resolve(top, target)).catch((thrown: unknown) => {
      if (!(thrown instanceof BridgeError)) throw thrown;
      const message = `The repository that '${git}' names: ${thrown.message}`;
      throw new BridgeError(thrown.code, message, thrown.hint);
    });
  }
  const common = join(gitDir, 'commondir');
  const commonDir =
    (await kindOf(common)) === 'missing'
      ? gitDir
      : await roots.resolve(resolve(gitDir, await pointerText(common)));
  const fault = await faultOf(gitDir, commonDir);
  if (fault !== undefined)
    throw notFollowed(gitDir === git ? `'${git}' ${fault}` : `'${git}' leads to '${gitDir}', which ${fault}`);
  return { top, gitDir, commonDir };
}

/** Why these are not the folders of a repository; git knows more. A link counts as what it should lead to: `checkStores` follows it. */
async function faultOf(gitDir: string, commonDir: string): Promise<string | undefined> {
  const kind = await kindOf(gitDir);
  if (kind !== 'folder') return kind === 'missing' ? 'does not exist' : 'is not a folder';
  for (const path of [join(gitDir, 'HEAD'), join(commonDir, 'objects'), join(commonDir, 'refs')])
    if ((await kindOf(path, lstat)) === 'missing') return `has no ${basename(path)}`;
  return undefined;
}

function notFollowed(what: string): BridgeError {
  return new BridgeError(
    'NOT_A_REPOSITORY',
    `${what}. A repository above it was not used.`,
    'Repair it in a terminal (for a worktree: git worktree repair, in its repository), or remove it.',
  );
}

/** The error for what needs files, in a repository without a working tree. It names the worktrees that this repository lists. */
export async function bareError(what: string, commonDir: string): Promise<BridgeError> {
  const all = join(commonDir, 'worktrees');
  // What cannot be read is not named.
  const names = await readdir(all).catch(() => []);
  const files = names.map((name) => pointerText(join(all, name, 'gitdir')).catch(() => ''));
  const worktrees = (await Promise.all(files)).filter((git) => git !== '').map((git) => dirname(git));
  return new BridgeError(
    'NOT_A_REPOSITORY',
    `${what}: it has no working tree.`,
    worktrees.length === 0 ? 'Give the path of a working tree.' : `Its worktrees: ${someNames(worktrees)}.`,
  );
}

/** The folder of the next repository above a folder, even outside the roots. */
export async function repositoryAbove(folder: string): Promise<string | undefined> {
  const above = dirname(folder);
  if (above === folder) return undefined;
  for (const sign of ['.git', '.git/HEAD']) if ((await kindOf(join(above, sign))) === 'file') return above;
  return repositoryAbove(above);
}

/** The path that a file of git contains, without the line ends behind it. */
async function pointerText(path: string): Promise<string> {
  const read = await readRegularFile(path, MAX_POINTER_BYTES);
  if (read.state === 'ok') return read.bytes.toString('utf8').replace(/[\r\n]+$/, '');
  throw new BridgeError(
    'NOT_A_REPOSITORY',
    `'${path}' cannot be read: ${read.state === 'missing' ? 'it was removed' : read.why}.`,
    'Repair the repository in a terminal.',
  );
}

/** What a path leads to, or with `lstat` what it is. What is not accessible and loops of links count as missing, too. */
export async function kindOf(path: string, look = stat): Promise<'folder' | 'file' | 'other' | 'missing'> {
  const facts = await look(path).catch(ignoreSystemError);
  if (facts === undefined) return 'missing';
  return facts.isDirectory() ? 'folder' : facts.isFile() ? 'file' : 'other';
}
