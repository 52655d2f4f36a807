import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { BridgeError, systemCodeOf } from '../../base/errors.js';
import { withTempFolder } from '../../base/files/temp-folder.js';
import type { AllowedRoots } from '../../projects/allowed-roots.js';
import type { TakeChunk } from '../../os/run-program.js';
import { commitIfAny } from '../revision.js';
import { copyIndex } from '../run/copy-index.js';
import { checkStores } from '../run/object-stores.js';
import { repositoryAt, type Repository } from '../run/repository.js';
import { repositoryCall, repositoryGit, type RepositoryCall } from '../run/repository-git.js';
import type { GitRunner } from '../run/run-git.js';
import { emptyTree } from '../state/project-changes.js';
import { patchOptions } from './diff-options.js';

export interface FilesPatchParts {
  readonly roots: AllowedRoots;
  readonly runner: GitRunner;
}

export interface FilesPatchQuery {
  /** Top folder of the working tree. */
  readonly repository: string;
  /** Null: nothing was committed yet. */
  readonly base: string | null;
  /** The first of these revisions that names a commit is the end; the working tree when left out. */
  readonly ends?: readonly string[];
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
  const git = await repositoryGit(runner, repository, signal);
  const base = query.base ?? (await emptyTree(git));
  const files = query.files ?? [];
  const patch = (ends: readonly string[]): string[] => [
    'diff',
    ...patchOptions,
    base,
    ...ends,
    '--',
    ...files,
  ];
  if (query.ends !== undefined) {
    for (const end of query.ends) {
      const commit = await commitIfAny(git, end);
      if (commit !== undefined) return void (await git.stream(patch([commit]), take));
    }
    const message = `The repository ${query.repository} no longer has ${query.ends.join(' or ')}.`;
    throw new BridgeError('REVISION_NOT_FOUND', message, 'git log --all shows the commits that are left.');
  }
  const call = await repositoryCall(runner, repository, signal);
  await withUntracked(runner, call, repository, files, (environment) =>
    runner.stream({ ...call, environment: { ...call.environment, ...environment }, args: patch([]) }, take),
  );
}

/** Runs `act` with a copy of the index in which untracked ones of `files` are announced, since git compares no others. */
async function withUntracked(
  runner: GitRunner,
  call: RepositoryCall,
  { top, gitDir }: Repository,
  files: readonly string[],
  act: (environment: Readonly<Record<string, string>>) => Promise<unknown>,
): Promise<void> {
  await withTempFolder('claude-code-bridge-git-', async (scratch) => {
    const environment = { GIT_INDEX_FILE: join(scratch, 'index') };
    await copyIndex(join(gitDir, 'index'), environment.GIT_INDEX_FILE);
    const present: string[] = [];
    for (const file of files) if (await isFile(join(top, file))) present.push(file);
    if (present.length > 0) {
      const input = Buffer.from(present.map((file) => `${file}\0`).join(''));
      const args = ['add', '--intent-to-add', '--force', '--pathspec-from-file=-', '--pathspec-file-nul'];
      await runner.output({ ...call, environment: { ...call.environment, ...environment }, args, input });
    }
    await act(environment);
  });
}

/** Folders are left out: `git add` could run the programs of a repository in one. */
async function isFile(path: string): Promise<boolean> {
  try {
    const found = await lstat(path);
    return found.isFile() || found.isSymbolicLink();
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return false;
  }
}
