import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { BridgeError, ignoreSystemError, messageOf } from '../../base/errors.js';
import { oneLine } from '../../base/text.js';
import { runsLater } from '../../projects/live-names.js';
import { isSecret } from '../../projects/secret-names.js';
import { commitIfAny } from '../revision.js';
import { findRepository } from '../run/repository.js';
import { openGit, type GitDoor, type RepositoryGit } from '../run/repository-git.js';
import { treeIn } from '../worktree/worktree-work.js';
import { keepTree, objectsIn } from './kept-trees.js';
import { readProjectChanges } from './project-changes.js';
import { doubtsOf, readProjectState } from './project-state.js';
import type { ProjectChanges, ProjectState } from './snapshot-schema.js';

/** Ignored files that are named. */
const MAX_IGNORED = 200;
/** The system's clock for times of files may lag behind. */
const TICK_MS = 20;
/** No start waits longer for a copy of its files. */
const KEEP_LIMIT_MS = 5_000;
const WHY_CHARS = 300;
const IGNORED: readonly string[] = ['ls-files', '--others', '--ignored', '--exclude-standard', '-z'];

export type SnapshotOutcome<T> =
  | ({ readonly state: 'repository' } & T)
  /** The project is not in an accessible repository. */
  | { readonly state: 'none'; readonly why: string };

export interface LaterSnapshot {
  /** Undefined when the first snapshot found no repository. */
  readonly before: ProjectState | undefined;
  /** The time of the first snapshot in milliseconds since the epoch. */
  readonly sinceMs: number;
  /** The project is a task's worktree, all of it: its changes are those of its tree. */
  readonly isWorktree: boolean;
  /** Where to store the tree of the end, if that of the beginning is stored. Left out, it is not stored. */
  readonly objects?: string | undefined;
}

/** Takes two snapshots of a project's repository and compares them. Throws GIT_FAILED and GIT_NOT_FOUND. */
export class ProjectSnapshots {
  readonly #door: GitDoor;

  constructor(door: GitDoor) {
    this.#door = door;
  }

  /** With `objects`, the files are stored there as a tree. */
  async before(
    projectPath: string,
    signal: AbortSignal,
    objects?: string,
  ): Promise<SnapshotOutcome<ProjectState>> {
    return this.#read(projectPath, signal, async (git) => ({
      ...(await readProjectState(git)),
      ...(await keep(git, signal, objects)),
    }));
  }

  /** Of a repository that is new since `before` only commits are reported, not its files, which may have existed before. */
  async after(
    projectPath: string,
    { before, sinceMs, isWorktree, objects }: LaterSnapshot,
    signal: AbortSignal,
  ): Promise<SnapshotOutcome<ProjectChanges>> {
    return this.#read(projectPath, signal, async (git) => {
      const now = await readProjectState(git);
      if (before !== undefined && before.repository !== now.repository)
        throw new BridgeError(
          'NOT_A_REPOSITORY',
          `The project is in another repository now: '${now.repository}' instead of '${before.repository}'.`,
          'Inspect it with git status and git log.',
        );
      if (before?.head != null && (await commitIfAny(git, before.head)) === undefined)
        throw new BridgeError(
          'NOT_A_REPOSITORY',
          `The repository has no commit ${before.head} any more, with which the task began: its .git was made again, or the commit was removed.`,
          'Inspect it with git status and git log.',
        );
      const { tree, why } = isWorktree ? await worktreeTree(git) : {};
      const changes = await readProjectChanges(git, before, { now, tree });
      const { ignored, more } = await ignoredFiles(git, sinceMs);
      // Last, since it changes the index.
      const kept = before?.tree === undefined ? {} : await keep(git, signal, objects, before.tree);
      const notKept = objects === undefined ? undefined : (before?.not_kept ?? kept.not_kept);
      const doubts = [
        ...(before === undefined ? [] : doubtsOf(before, now)),
        why,
        more > 0 && `${more} more ignored files that hold secrets or instruct by their names are new.`,
        notKept !== undefined && `It cannot be undone, since its files were not kept: ${notKept}`,
      ];
      return {
        ...changes,
        ...(kept.tree !== undefined && { tree: kept.tree }),
        ignored,
        doubts: doubts.filter((doubt) => typeof doubt === 'string'),
      };
    });
  }

  /** The tree of all that is in a worktree; it is what `finish_task` brings home. Undefined where that is not known. */
  async worktreeTree(path: string, signal: AbortSignal): Promise<string | undefined> {
    const found = await this.#read(path, signal, worktreeTree);
    return found.state === 'repository' ? found.tree : undefined;
  }

  async #read<T>(
    projectPath: string,
    signal: AbortSignal,
    read: (git: RepositoryGit) => Promise<T>,
  ): Promise<SnapshotOutcome<T>> {
    try {
      const { roots } = this.#door;
      const repository = await findRepository(roots, await roots.resolve(projectPath));
      const git = await openGit(this.#door, repository, signal);
      const found = await git.withPlainIndex(read);
      return { state: 'repository', ...found };
    } catch (thrown) {
      if (thrown instanceof BridgeError && ['NOT_A_REPOSITORY', 'PATH_NOT_ALLOWED'].includes(thrown.code))
        return { state: 'none', why: thrown.message };
      throw thrown;
    }
  }
}

/** Stores the files as a tree. What git cannot store, or not in time, is no fault of the snapshot. */
async function keep(
  git: RepositoryGit,
  signal: AbortSignal,
  objects: string | undefined,
  before?: string,
): Promise<Pick<ProjectState, 'tree' | 'not_kept'>> {
  if (objects === undefined) return {};
  const environment = objectsIn(objects, git.repository);
  const limited = git.with({
    signal: AbortSignal.any([signal, AbortSignal.timeout(KEEP_LIMIT_MS)]),
    environment,
  });
  try {
    return { tree: await keepTree(limited, objects, before) };
  } catch (error) {
    if (signal.aborted) throw error;
    return { not_kept: oneLine(messageOf(error), WHY_CHARS) };
  }
}

/** The tree of all that is in a worktree, and why something is left out of it or why it cannot be brought anywhere. */
async function worktreeTree(git: RepositoryGit): Promise<{ tree?: string; why?: string | undefined }> {
  try {
    const { tree, leftOut } = await treeIn(git.changing());
    return { tree, why: leftOut };
  } catch (error) {
    if (error instanceof BridgeError && error.code === 'WORK_DOES_NOT_FIT') return { why: error.message };
    throw error;
  }
}

/**
 * The ignored files that hold secrets, or run or instruct something later, by their names, and were written or moved since. Those that
 * lie highest come first. The time is that of the inode, which `touch` does not set back.
 */
async function ignoredFiles(git: RepositoryGit, sinceMs: number) {
  const { top } = git.repository;
  const named: string[] = [];
  for (const field of await git.fields([...IGNORED, ...git.paths])) {
    const path = join(top, field.toString('utf8'));
    if (isSecret(path, top) || runsLater(path, top)) named.push(path);
  }
  const fresh: string[] = [];
  for (const path of named) {
    // It may be gone meanwhile.
    const facts = await lstat(path).catch(ignoreSystemError);
    if (facts !== undefined && facts.ctimeMs >= sinceMs - TICK_MS) fresh.push(path);
  }
  const depth = (path: string): number => path.split('/').length;
  fresh.sort((one, other) => depth(one) - depth(other) || (one < other ? -1 : 1));
  return { ignored: fresh.slice(0, MAX_IGNORED), more: fresh.length - MAX_IGNORED };
}
