import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { BridgeError, messageOf, systemCodeOf } from '../../base/errors.js';
import { oneLine } from '../../base/text.js';
import type { AllowedRoots } from '../../projects/allowed-roots.js';
import { runsLater } from '../../projects/live-names.js';
import { isSecret } from '../../projects/secret-names.js';
import { pathArguments } from '../diff/diff-options.js';
import { NulFields } from '../nul-fields.js';
import { withPlainIndex } from '../run/plain-index.js';
import { findRepository, type RepositoryPath } from '../run/repository.js';
import { gitWith, repositoryCall, type RepositoryCall, type RepositoryGit } from '../run/repository-git.js';
import type { GitRunner } from '../run/run-git.js';
import { changingGit } from '../worktree/changing-git.js';
import { treeIn } from '../worktree/worktree-work.js';
import { keepTree, objectsIn } from './kept-trees.js';
import { doubtsOf, readProjectChanges } from './project-changes.js';
import { readProjectState } from './project-state.js';
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
  readonly #roots: AllowedRoots;
  readonly #runner: GitRunner;

  constructor(parts: { readonly roots: AllowedRoots; readonly runner: GitRunner }) {
    this.#roots = parts.roots;
    this.#runner = parts.runner;
  }

  /** With `objects`, the files are stored there as a tree. */
  async before(
    projectPath: string,
    signal: AbortSignal,
    objects?: string,
  ): Promise<SnapshotOutcome<ProjectState>> {
    return this.#read(projectPath, signal, async (git, at, call) => ({
      ...(await readProjectState(git, at, call.settings)),
      ...(await this.#keep(at, call, objects)),
    }));
  }

  /** Of a repository that is new since `before` only commits are reported, not its files, which may have existed before. */
  async after(
    projectPath: string,
    { before, sinceMs, isWorktree, objects }: LaterSnapshot,
    signal: AbortSignal,
  ): Promise<SnapshotOutcome<ProjectChanges>> {
    return this.#read(projectPath, signal, async (git, at, call) => {
      const now = await readProjectState(git, at, call.settings);
      if (before !== undefined && before.repository !== now.repository)
        throw new BridgeError(
          'NOT_A_REPOSITORY',
          `The project is in another repository now: '${now.repository}' instead of '${before.repository}'.`,
          'Inspect it with git_status and git_log.',
        );
      const { tree, why } = isWorktree ? await this.#tree(at, signal) : {};
      const changes = await readProjectChanges(git, before, {
        now,
        within: at.within,
        ...(tree !== undefined && { tree }),
      });
      const { ignored, doubt } = await ignoredFiles(git, at, sinceMs);
      const kept = before?.tree === undefined ? {} : await this.#keep(at, call, objects, before.tree);
      const not_kept = objects === undefined ? undefined : (before?.not_kept ?? kept.not_kept);
      const doubts = [
        ...(before === undefined ? [] : doubtsOf(before, now)),
        why,
        doubt,
        not_kept && `It cannot be undone, since its files were not kept: ${not_kept}`,
      ];
      return {
        ...changes,
        ...(kept.tree !== undefined && { tree: kept.tree }),
        ignored,
        doubts: doubts.filter((one) => one !== undefined),
      };
    });
  }

  /** What git cannot keep, or not in time, is no fault of the snapshot. */
  async #keep(
    at: RepositoryPath,
    call: RepositoryCall,
    objects: string | undefined,
    before?: string,
  ): Promise<Pick<ProjectState, 'tree' | 'not_kept'>> {
    if (objects === undefined) return {};
    const limited = {
      ...call,
      signal: AbortSignal.any([call.signal, AbortSignal.timeout(KEEP_LIMIT_MS)]),
      environment: { ...call.environment, ...objectsIn(objects, at.repository) },
    };
    try {
      return { tree: await keepTree(gitWith(this.#runner, limited), at, objects, before) };
    } catch (error) {
      if (call.signal.aborted) throw error;
      return { not_kept: oneLine(messageOf(error), WHY_CHARS) };
    }
  }

  /** The tree of all that is in a worktree, and why something is left out of it or why it cannot be brought anywhere. */
  async #tree(
    { repository }: RepositoryPath,
    signal: AbortSignal,
  ): Promise<{ readonly tree?: string; readonly why?: string }> {
    try {
      const git = await changingGit(this.#runner, repository, signal);
      const { tree, leftOut } = await treeIn(git, repository);
      return { tree, ...(leftOut !== undefined && { why: leftOut }) };
    } catch (error) {
      if (error instanceof BridgeError && error.code === 'WORK_DOES_NOT_FIT') return { why: error.message };
      throw error;
    }
  }

  async #read<T>(
    projectPath: string,
    signal: AbortSignal,
    read: (git: RepositoryGit, at: RepositoryPath, call: RepositoryCall) => Promise<T>,
  ): Promise<SnapshotOutcome<T>> {
    try {
      const at = await findRepository(this.#roots, await this.#roots.resolve(projectPath));
      const own = await repositoryCall(this.#runner, at.repository, signal);
      const found = await withPlainIndex(this.#runner, own, at.repository, (call) =>
        read(gitWith(this.#runner, call), at, call),
      );
      return { state: 'repository', ...found };
    } catch (thrown) {
      const isNone =
        thrown instanceof BridgeError &&
        (thrown.code === 'NOT_A_REPOSITORY' || thrown.code === 'PATH_NOT_ALLOWED');
      if (isNone) return { state: 'none', why: thrown.message };
      throw thrown;
    }
  }
}

/**
 * The ignored files that hold secrets, or run or instruct something later, by their names, and were written or moved since. Those that
 * lie highest come first. The time is that of the inode, which `touch` does not set back.
 */
async function ignoredFiles(
  git: RepositoryGit,
  { repository: { top }, within }: RepositoryPath,
  sinceMs: number,
): Promise<{ readonly ignored: readonly string[]; readonly doubt?: string }> {
  const named: string[] = [];
  const fields = new NulFields((field) => {
    const path = join(top, field.toString('utf8'));
    if (isSecret(path, top) || runsLater(path, top)) named.push(path);
  });
  await git.stream([...IGNORED, ...pathArguments(within)], (chunk) => fields.push(chunk));
  fields.end();
  const fresh: string[] = [];
  for (const path of named) if ((await changedMs(path)) >= sinceMs - TICK_MS) fresh.push(path);
  const depth = (path: string): number => path.split('/').length;
  fresh.sort((one, other) => depth(one) - depth(other) || (one < other ? -1 : 1));
  const left = fresh.length - MAX_IGNORED;
  return {
    ignored: fresh.slice(0, MAX_IGNORED),
    ...(left > 0 && {
      doubt: `${left} more ignored files that hold secrets or instruct by their names are new.`,
    }),
  };
}

async function changedMs(path: string): Promise<number> {
  try {
    return (await lstat(path)).ctimeMs;
  } catch (error) {
    // Gone meanwhile.
    if (systemCodeOf(error) === undefined) throw error;
    return 0;
  }
}
