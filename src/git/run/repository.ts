import { lstat, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { BridgeError, systemCodeOf } from '../../base/errors.js';
import { readRegularFile } from '../../base/files/regular-file.js';
import type { AllowedPath, AllowedRoots } from '../../projects/allowed-roots.js';

/** A `.git` file or the `commondir` of a worktree contains one path. */
const MAX_POINTER_BYTES = 8_192;

/** A repository whose folders are inside the allowed roots; ObjectStores checks their contents. */
export interface Repository {
  /** Folder of the working tree, which contains `.git`. */
  readonly top: AllowedPath;
  readonly gitDir: AllowedPath;
  /** Equal to `gitDir`, except for a linked worktree, where it belongs to the main repository. */
  readonly commonDir: AllowedPath;
}

/** The target of a call: a repository, and a file or folder in it. */
export interface RepositoryPath {
  readonly repository: Repository;
  /** The requested path. */
  readonly path: AllowedPath;
  /** Relative to the top; undefined for the whole repository. */
  readonly within: string | undefined;
}

export type FoundGit =
  | { readonly state: 'none' }
  /** Something is named `.git`, but is not a repository. */
  | { readonly state: 'broken'; readonly why: string }
  | { readonly state: 'found'; readonly repository: Repository };

/**
 * Finds the repository of a path as git does, from the folder upwards, but only within the allowed roots. Throws
 * NOT_A_REPOSITORY, and PATH_NOT_ALLOWED for a repository with folders outside the roots.
 */
export async function findRepository(roots: AllowedRoots, path: AllowedPath): Promise<RepositoryPath> {
  const start = await folderOf(roots, path);
  for (
    let folder: AllowedPath | undefined = start;
    folder !== undefined;
    folder = await parentOf(roots, folder)
  ) {
    const found = await gitOf(roots, folder);
    if (found.state !== 'found') continue;
    const within = relative(folder, path);
    return { repository: found.repository, path, within: within === '' ? undefined : within };
  }
  throw new BridgeError(
    'NOT_A_REPOSITORY',
    `Path '${path}' is not in a git repository within the allowed roots.`,
    'Give a path in a repository, or create one with init_git_repo.',
  );
}

/** The repository whose top is this folder. Throws NOT_A_REPOSITORY, and the errors of AllowedRoots. */
export async function repositoryAt(roots: AllowedRoots, top: string): Promise<Repository> {
  const found = await gitOf(roots, await roots.resolveDirectory(top));
  if (found.state === 'found') return found.repository;
  const message = `There is no git repository at ${top} any more.`;
  throw new BridgeError('NOT_A_REPOSITORY', message, 'Check whether it was moved or removed.');
}

/** Reads the `.git` of a folder. Throws PATH_NOT_ALLOWED when it leads out of the roots. */
export async function gitOf(roots: AllowedRoots, top: AllowedPath): Promise<FoundGit> {
  const git = join(top, '.git');
  try {
    await lstat(git);
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { state: 'none' };
    throw thrown;
  }
  // This follows a link, and refuses one that leads out of the roots.
  let gitDir = await roots.resolve(git);
  const kind = await kindOf(gitDir);
  if (kind === 'missing')
    return { state: 'broken', why: `its .git points to '${gitDir}', which does not exist` };
  if (kind === 'file') {
    const target = /^gitdir: ([^\0]+?)\n*$/.exec(await pointerText(gitDir))?.[1];
    if (target === undefined) return { state: 'broken', why: 'its .git is a file that names no repository' };
    gitDir = await roots.resolve(resolve(dirname(gitDir), target));
  }
  const [folderKind, headKind, commonDir] = await Promise.all([
    kindOf(gitDir),
    kindOf(join(gitDir, 'HEAD')),
    commonDirOf(roots, gitDir),
  ]);
  if (folderKind !== 'folder') return { state: 'broken', why: 'its .git is not a folder' };
  if (headKind === 'missing') return { state: 'broken', why: 'its .git has no HEAD' };
  return { state: 'found', repository: { top, gitDir, commonDir } };
}

/** The folder of the next repository above a folder, even outside the roots. */
export async function repositoryAbove(folder: string): Promise<string | undefined> {
  for (let above = dirname(folder); ; above = dirname(above)) {
    if (
      (await kindOf(join(above, '.git'))) === 'file' ||
      (await kindOf(join(above, '.git', 'HEAD'))) === 'file'
    )
      return above;
    if (above === dirname(above)) return undefined;
  }
}

async function commonDirOf(roots: AllowedRoots, gitDir: AllowedPath): Promise<AllowedPath> {
  const file = join(gitDir, 'commondir');
  if ((await kindOf(file)) === 'missing') return gitDir;
  const named = (await pointerText(file)).replace(/\n+$/, '');
  return roots.resolve(resolve(gitDir, named));
}

async function parentOf(roots: AllowedRoots, folder: AllowedPath): Promise<AllowedPath | undefined> {
  const parent = dirname(folder);
  if (parent === folder) return undefined;
  try {
    return await roots.resolve(parent);
  } catch (thrown) {
    // The parent is outside the roots, so the search ends.
    if (thrown instanceof BridgeError && thrown.code === 'PATH_NOT_ALLOWED') return undefined;
    throw thrown;
  }
}

/** The nearest existing folder of the path, since git also knows deleted files. */
async function folderOf(roots: AllowedRoots, path: AllowedPath): Promise<AllowedPath> {
  let folder = path;
  while ((await kindOf(folder)) !== 'folder') folder = await roots.resolve(dirname(folder));
  return folder;
}

async function pointerText(path: string): Promise<string> {
  const read = await readRegularFile(path, MAX_POINTER_BYTES);
  if (read.state === 'ok') return read.bytes.toString('utf8');
  throw new BridgeError(
    'NOT_A_REPOSITORY',
    `'${path}' cannot be read: ${read.state === 'missing' ? 'it was removed' : read.why}.`,
    'Repair the repository in a terminal.',
  );
}

async function kindOf(path: string): Promise<'folder' | 'file' | 'other' | 'missing'> {
  try {
    const facts = await stat(path);
    return facts.isDirectory() ? 'folder' : facts.isFile() ? 'file' : 'other';
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === undefined) throw thrown;
    // Inaccessible paths and loops of links count as missing, too.
    return 'missing';
  }
}
