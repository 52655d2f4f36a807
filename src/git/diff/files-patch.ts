import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { BridgeError, systemCodeOf } from '../../base/errors.js';
import type { AllowedRoots } from '../../projects/allowed-roots.js';
import type { TakeChunk } from '../../os/run-program.js';
import { emptyTree, treeIfAny } from '../revision.js';
import { checkStores } from '../run/object-stores.js';
import { withPlainIndex } from '../run/plain-index.js';
import { repositoryAt, type Repository } from '../run/repository.js';
import { gitWith, repositoryCall, type RepositoryCall } from '../run/repository-git.js';
import type { GitRunner } from '../run/run-git.js';
import { objectsIn } from '../state/kept-trees.js';
import { patchOptions } from './diff-options.js';

export interface FilesPatchParts {
  readonly roots: AllowedRoots;
  readonly runner: GitRunner;
}

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
  { roots, runner }: FilesPatchParts,
  query: FilesPatchQuery,
  take: TakeChunk,
  signal: AbortSignal,
): Promise<void> {
  const repository = await repositoryAt(roots, query.repository);
  await checkStores(roots, repository);
  const own = await queryCall(runner, repository, query, signal);
  const git = gitWith(runner, own);
  const base = query.base ?? (await emptyTree(git));
  const files = query.files ?? [];
  const patch = (...end: string[]): string[] => ['diff', ...patchOptions, base, ...end, '--', ...files];
  if (query.end !== undefined) {
    const tree = await treeIfAny(git, query.end);
    if (tree !== undefined) return void (await git.stream(patch(tree), take));
    const message = `The repository ${query.repository} no longer has ${query.end}.`;
    throw new BridgeError('REVISION_NOT_FOUND', message, 'git log --all shows the commits that are left.');
  }
  await withPlainIndex(runner, own, repository, async (call) => {
    await announce(runner, call, repository.top, files);
    await runner.stream({ ...call, args: patch() }, take);
  });
}

/** Throws like `repositoryCall`. */
export async function queryCall(
  runner: GitRunner,
  repository: Repository,
  { objects }: Pick<FilesPatchQuery, 'objects'>,
  signal: AbortSignal,
): Promise<RepositoryCall> {
  const call = await repositoryCall(runner, repository, signal);
  if (objects === undefined) return call;
  return { ...call, environment: { ...call.environment, ...objectsIn(objects, repository) } };
}

/** Announces the untracked ones of `files` in an index, since git compares no others. */
async function announce(
  runner: GitRunner,
  call: RepositoryCall,
  top: string,
  files: readonly string[],
): Promise<void> {
  const present: string[] = [];
  for (const file of files) if (await isFile(join(top, file))) present.push(file);
  if (present.length === 0) return;
  const input = Buffer.from(present.map((file) => `${file}\0`).join(''));
  const args = ['add', '--intent-to-add', '--force', '--pathspec-from-file=-', '--pathspec-file-nul'];
  await runner.output({ ...call, args, input });
}

/** Folders are left out: `git add` could run the programs of a repository in one. */
export async function isFile(path: string): Promise<boolean> {
  try {
    const found = await lstat(path);
    return found.isFile() || found.isSymbolicLink();
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return false;
  }
}
