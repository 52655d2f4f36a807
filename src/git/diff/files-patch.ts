import { lstat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { BridgeError, ignoreSystemError } from '../../base/errors.js';
import type { TakeChunk } from '../../os/run-program.js';
import type { PathOpener } from '../../projects/path-opener.js';
import { emptyTree, treeIfAny } from '../revision.js';
import { repositoryAt } from '../run/repository.js';
import { nulLines, openGit, type GitDoor, type RepositoryGit } from '../run/repository-git.js';
import { objectsIn } from '../state/kept-trees.js';
import { patchOptions } from './read-diff.js';

export interface FilesPatchQuery {
  /** Top folder of the working tree. */
  readonly repository: string;
  /** A commit or a tree. Null: nothing was committed yet. */
  readonly base: string | null;
  /** A commit or a tree; the working tree when left out. */
  readonly end?: string;
  /** A folder with objects of trees that the repository does not have. */
  readonly objects?: string | undefined;
  /** Relative to the top. All files that are in `base` or the end when left out. */
  readonly files?: readonly string[];
}

/**
 * Passes on the patch of files from a commit to another one, or to the working tree with its untracked files. Changes nothing of
 * the repository, and runs none of its programs. Throws NOT_A_REPOSITORY, REVISION_NOT_FOUND, and the errors of AllowedRoots and git.
 */
export async function readFilesPatch(
  door: GitDoor,
  query: FilesPatchQuery,
  take: TakeChunk,
  signal: AbortSignal,
): Promise<void> {
  const git = await gitFor(door, query, signal);
  const base = query.base ?? emptyTree(git);
  const files = query.files ?? [];
  const patch = (...end: string[]): string[] => ['diff', ...patchOptions, base, ...end, '--', ...files];
  if (query.end !== undefined) {
    const tree = await treeIfAny(git, query.end);
    if (tree !== undefined) return void (await git.stream(patch(tree), take));
    const message = `The repository ${query.repository} no longer has ${query.end}.`;
    throw new BridgeError('REVISION_NOT_FOUND', message, 'git log --all shows the commits that are left.');
  }
  await git.withPlainIndex(async (plain) => {
    await announce(plain, files);
    await plain.stream(patch(), take);
  });
}

async function gitFor(
  door: GitDoor,
  { repository: top, objects }: FilesPatchQuery,
  signal: AbortSignal,
): Promise<RepositoryGit> {
  const repository = await repositoryAt(door.roots, top);
  const git = await openGit(door, repository, signal);
  return objects === undefined ? git : git.with({ environment: objectsIn(objects, repository) });
}

/** Announces the untracked ones of `files` in an index, since git compares no others. */
async function announce(git: RepositoryGit, files: readonly string[]): Promise<void> {
  const present: string[] = [];
  for (const file of files) if (await isFile(join(git.repository.top, file))) present.push(file);
  if (present.length === 0) return;
  const args = ['add', '--intent-to-add', '--force', '--pathspec-from-file=-', '--pathspec-file-nul'];
  await git.output(args, { input: nulLines(present) });
}

/** Folders are left out: `git add` could run the programs of a repository in one. */
export async function isFile(path: string): Promise<boolean> {
  const found = await lstat(path).catch(ignoreSystemError);
  return found !== undefined && (found.isFile() || found.isSymbolicLink());
}

export interface FileSideQuery extends FilesPatchQuery {
  /** Relative to the top, as that side has it: a renamed file has its old name on the old side. */
  readonly file: string;
  readonly side: 'old' | 'new';
  readonly maxBytes: number;
}

/**
 * The bytes of one file of a patch, before or after it; undefined when that side does not have the file. Runs no programs of the
 * repository. Throws NOT_A_REPOSITORY, INVALID_ARGUMENTS for a file that is not in the patch, FILE_TOO_LARGE, and the errors of
 * PathOpener and git.
 */
export async function readFileSide(
  parts: GitDoor & { readonly opener: PathOpener },
  query: FileSideQuery,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const { side, base, end, file } = query;
  if (isAbsolute(file) || file.split('/').includes('..') || file.includes('\0')) throw notChanged();
  const git = await gitFor(parts, query, signal);
  if (side === 'old') return base === null ? undefined : fileOfCommit(git, base, query);
  if (end !== undefined) {
    const tree = await treeIfAny(git, end);
    return tree === undefined ? undefined : fileOfCommit(git, tree, query);
  }
  // Of a working tree only what the patch has: it holds files that git ignores, too.
  if (query.files?.includes(file) !== true) throw notChanged();
  const { handle, stats } = await parts.opener.openFile(join(git.repository.top, file));
  try {
    const bytes = Buffer.alloc(checkedSize(Number(stats.size), query.maxBytes));
    let read = 0;
    for (let last = -1; last !== 0 && read < bytes.length; read += last)
      last = (await handle.read(bytes, read, bytes.length - read, read)).bytesRead;
    return bytes.subarray(0, read);
  } finally {
    await handle.close();
  }
}

async function fileOfCommit(
  git: RepositoryGit,
  commit: string,
  { file, maxBytes }: FileSideQuery,
): Promise<Buffer | undefined> {
  const name = `${commit}:${file}`;
  const { code, text } = await git.output(['cat-file', '-s', name], { okCodes: [0, 128] });
  if (code !== 0) return undefined;
  checkedSize(Number(text), maxBytes);
  const chunks: Buffer[] = [];
  await git.stream(['cat-file', 'blob', name], (chunk) => void chunks.push(chunk));
  return Buffer.concat(chunks);
}

function notChanged(): BridgeError {
  return new BridgeError('INVALID_ARGUMENTS', 'The file is not one that changed.', 'Read the changes again.');
}

function checkedSize(size: number, maxBytes: number): number {
  if (size <= maxBytes) return size;
  throw new BridgeError(
    'FILE_TOO_LARGE',
    `The file has ${size} bytes, of at most ${maxBytes} that are shown.`,
    'Open it in another program.',
  );
}
