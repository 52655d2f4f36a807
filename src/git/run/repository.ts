import { lstat, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { BridgeError, systemCodeOf } from '../../base/errors.js';
import { readRegularFile } from '../../base/files/regular-file.js';
import type { AllowedPath, AllowedRoots } from '../../projects/allowed-roots.js';

/** A `.git` file, or the `commondir` of a worktree, is one path. */
const MAX_POINTER_BYTES = 8_192;

/** A repository whose folders lie in the allowed roots; what they hold is judged by ObjectStores. */
export interface Repository {
  /** Folder of the working tree; `.git` lies in it. */
  readonly top: AllowedPath;
  readonly gitDir: AllowedPath;
  /** The same, but for a linked worktree: there the repository that it belongs to. */
  readonly commonDir: AllowedPath;
}

/** What a call is about: a repository, and a file or folder of it. */
export interface RepositoryPath {
  readonly repository: Repository;
  /** The path that was asked for. */
  readonly path: AllowedPath;
  /** Relative to the top; undefined for the whole repository. */
  readonly within: string | undefined;
}

export type FoundGit =
  | { readonly state: 'none' }
  /** Something is named `.git`, and it is no repository. */
  | { readonly state: 'broken'; readonly why: string }
  | { readonly state: 'found'; readonly repository: Repository };

/**
 * Finds the repository of a path as git does, from the folder upwards, but not beyond the allowed roots. Throws
 * NOT_A_REPOSITORY, and PATH_NOT_ALLOWED for one that leads out of the roots.
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
    `Path '${path}' is not in a git repository that lies within the allowed roots.`,
    'Give a path of a repository, or make one with init_git_repo.',
  );
}

/** What the `.git` of a folder is. Throws PATH_NOT_ALLOWED when it leads out of the roots. */
export async function gitOf(roots: AllowedRoots, top: AllowedPath): Promise<FoundGit> {
  const git = join(top, '.git');
  try {
    await lstat(git);
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { state: 'none' };
    throw thrown;
  }
  // A link is followed here, and refused when it leads out.
  let gitDir = await roots.resolve(git);
  const kind = await kindOf(gitDir);
  if (kind === 'missing')
    return { state: 'broken', why: `its .git leads to '${gitDir}', which does not exist` };
  if (kind === 'file') {
    const pointed = /^gitdir: ([^\0]+?)\n*$/.exec(await pointerText(gitDir))?.[1];
    if (pointed === undefined) return { state: 'broken', why: 'its .git is a file that names no repository' };
    gitDir = await roots.resolve(resolve(dirname(gitDir), pointed));
  }
  const [ofFolder, ofHead, commonDir] = await Promise.all([
    kindOf(gitDir),
    kindOf(join(gitDir, 'HEAD')),
    commonDirOf(roots, gitDir),
  ]);
  if (ofFolder !== 'folder') return { state: 'broken', why: 'its .git is not a folder' };
  if (ofHead === 'missing') return { state: 'broken', why: 'its .git has no HEAD' };
  return { state: 'found', repository: { top, gitDir, commonDir } };
}

/** The next repository above a folder, whether or not it is within the roots: the folder that holds its `.git`. */
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
    // The edge of the roots: what lies above is not looked at.
    if (thrown instanceof BridgeError && thrown.code === 'PATH_NOT_ALLOWED') return undefined;
    throw thrown;
  }
}

/** The folder itself, or the nearest one above that exists: git knows files that are gone. */
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
    `'${path}' cannot be read: ${read.state === 'missing' ? 'it is gone' : read.why}.`,
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
    // Also what may not be looked at, and links that go in circles: nothing that can be used is there.
    return 'missing';
  }
}
