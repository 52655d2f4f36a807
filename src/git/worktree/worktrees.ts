import { mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { replaceFile } from '../../base/files/folders.js';
import { BridgeError, messageOf } from '../../base/errors.js';
import { readRegularFile } from '../../base/files/regular-file.js';
import type { AllowedPath, AllowedRoots } from '../../projects/allowed-roots.js';
import { applyWork, mergeWork, targetOf } from './bring-work.js';
import { changingGit, type ChangingGit } from './changing-git.js';
import { disguisesOf, requireNoDisguises } from '../state/disguises.js';
import { checkStores } from '../run/object-stores.js';
import { findRepository, kindOf, repositoryAt, type Repository } from '../run/repository.js';
import { repositoryGit } from '../run/repository-git.js';
import { commitIfAny } from '../revision.js';
import type { GitRunner } from '../run/run-git.js';
import { readStatus } from '../status.js';
import { worktreesFolder } from './worktree-folder.js';
import {
  commitWork,
  isAncestor,
  notAWorktree,
  requireFinished,
  requireReviewed,
  workIn,
  type Work,
} from './worktree-work.js';

/** Refs that preserve the commits of `apply` and `discard`: git never deletes what a ref names. */
const SAVED_REFS = 'refs/claude-code-bridge';
const NOTHING_NEW = 'There was nothing to merge: the project had all of the work already.';
/** A `.git` file contains one path. */
const MAX_POINTER_BYTES = 8_192;
/** For operations that must finish even if the caller cancels. */
const noAbort = new AbortController().signal;

export interface WorktreeParts {
  readonly roots: AllowedRoots;
  readonly runner: GitRunner;
}

/** A task's worktree, as stored in the task's record. */
export interface WorktreeFacts {
  readonly project_path: string;
  readonly repository: string;
  readonly path: string;
  readonly branch: string;
  readonly base_commit: string;
  readonly notes: string[];
  readonly disguises?: string[] | undefined;
}

export interface FinishQuery {
  readonly action: 'merge' | 'apply' | 'discard';
  readonly taskId: string;
  /** The tree that was reviewed; any other one is refused. */
  readonly reviewed?: string | undefined;
  /** Message of the commit for uncommitted changes. */
  readonly message: string;
}

export interface FinishReport {
  /** The project's commit after a merge, or the ref that preserves the work; the empty text when there was none. */
  readonly result: string;
  /** The tree of the work. */
  readonly tree: string;
  /** Sentences: whether there was anything new, and what became of the worktree. */
  readonly notes: readonly string[];
}

/** Creates, merges and removes git worktrees for tasks, without losing work. Runs no program that the repository configures. */
export class Worktrees {
  readonly #parts: WorktreeParts;

  constructor(parts: WorktreeParts) {
    this.#parts = parts;
  }

  /**
   * Creates a worktree at the last commit, on a new branch. `folder` is the folder in it that corresponds to `project`. Throws
   * NOT_A_REPOSITORY, PATH_NOT_FOUND, PATH_NOT_ALLOWED, NOT_WRITABLE, GIT_FAILED, and then leaves nothing behind.
   */
  async create(
    project: AllowedPath,
    { taskId, branch }: { readonly taskId: string; readonly branch: string },
    signal: AbortSignal,
  ): Promise<{ readonly folder: AllowedPath; readonly worktree: WorktreeFacts }> {
    const { roots } = this.#parts;
    const { repository, within } = await findRepository(roots, project);
    await checkStores(roots, repository);
    const git = await changingGit(this.#parts.runner, repository, signal);
    const base = await commitIfAny(git, 'HEAD');
    if (base === undefined) {
      throw new BridgeError(
        'NOT_A_REPOSITORY',
        `The repository ${repository.top} has no commit yet, so it cannot have a worktree.`,
        'Make a first commit, or start the task without a worktree.',
      );
    }
    if (within !== undefined) await requireFolder(git, base, within);
    const notes = await this.#uncommittedNotes(repository, signal);
    const path = join(await worktreesFolder(roots, repository.top), taskId);
    // Fails if the path exists, so that a cleanup removes only what was created here.
    await mkdir(path);
    try {
      await addWorktree(git, repository, { path, branch, base });
      if (git.hasFilters)
        notes.push(
          'Git filters such as git-lfs were not run: the worktree contains these files as git stores them.',
        );
      const folder = await roots.resolveDirectory(within === undefined ? path : join(path, within));
      const facts = {
        project_path: project,
        repository: repository.top,
        path,
        branch,
        base_commit: base,
        notes,
        disguises: await disguisesOf((args) => git.text(args), repository),
      };
      return { folder, worktree: facts };
    } catch (error) {
      await this.#remove(await changingGit(this.#parts.runner, repository, noAbort), path, branch);
      throw error;
    }
  }

  /** Removes a worktree without work. Returns false, and removes nothing, when it contains work or cannot be checked. */
  async removeUnlessWork(worktree: WorktreeFacts): Promise<boolean> {
    try {
      const { git, repository } = await this.#main(worktree, noAbort);
      const head = await commitIfAny(git, 'HEAD');
      if ((await kindOf(worktree.path)) === 'folder') {
        const inner = await this.#inner(worktree, repository, noAbort);
        const work = await workIn(inner.git, inner.repository, worktree.branch, 'What was not committed.\n');
        if (work.leftOut !== undefined) return false;
        if (!(await this.#isKnown(git, work.commit, worktree, head))) return false;
      }
      const tip = await commitIfAny(git, `refs/heads/${worktree.branch}`);
      if (tip !== undefined && !(await this.#isKnown(git, tip, worktree, head))) return false;
      return (await this.#remove(git, worktree.path, worktree.branch)) === undefined;
    } catch (error) {
      // A worktree that cannot be checked may contain work.
      if (error instanceof BridgeError) return false;
      throw error;
    }
  }

  /**
   * Brings the work to where `result` says and removes the worktree, unless git could not read all of it. Throws like `create`, and WORK_DOES_NOT_FIT with the project as it
   * was; what was not committed is on the branch of the worktree then, unless the work was not the reviewed one.
   */
  async finish(worktree: WorktreeFacts, query: FinishQuery, signal: AbortSignal): Promise<FinishReport> {
    const { repository } = await this.#main(worktree, signal);
    if ((await kindOf(worktree.path)) !== 'folder')
      throw notAWorktree(worktree.path, `it was removed; its commits are on the branch ${worktree.branch}`);
    const inner = await this.#inner(worktree, repository, signal);
    const work = await workIn(inner.git, inner.repository, worktree.branch, query.message);
    // From here on, cancelling has no effect: an unfinished merge would be worse than a late answer.
    const git = await changingGit(this.#parts.runner, repository, noAbort);
    if (query.action !== 'discard') {
      requireReviewed(work, query.reviewed, query.taskId);
      requireNoDisguises(await disguisesOf((args) => git.text(args), repository), worktree.disguises ?? []);
      await requireFinished(inner.git, inner.repository, work, worktree.branch);
      await commitWork(inner.git, work, worktree.branch);
    }
    const head = await commitIfAny(git, 'HEAD');
    const result = await this.#bring(git, repository, worktree, work, query);
    const had = query.action === 'merge' && result === head ? [NOTHING_NEW] : [];
    const { path, branch } = worktree;
    const end =
      work.leftOut === undefined
        ? ((await this.#remove(git, path, branch)) ?? 'The worktree and its branch were removed.')
        : `${work.leftOut} The worktree ${path} stays for it; git worktree remove --force removes it, and git branch -D ${branch} its branch.`;
    return { result, tree: work.tree, notes: [...had, end] };
  }

  async #bring(
    git: ChangingGit,
    repository: Repository,
    worktree: WorktreeFacts,
    work: Work,
    query: FinishQuery,
  ): Promise<string> {
    if (query.action === 'merge') {
      if (await isAncestor(git, work.commit, worktree.base_commit)) return '';
      return mergeWork(await targetOf(git, repository), work, worktree.branch);
    }
    if (query.action === 'apply') await applyWork(await targetOf(git, repository), work, worktree.branch);
    return this.#save(git, worktree, work, query);
  }

  /** Creates a ref to all of the work; returns the empty text when there is none. */
  async #save(git: ChangingGit, worktree: WorktreeFacts, work: Work, query: FinishQuery): Promise<string> {
    const head = await commitIfAny(git, 'HEAD');
    const { branchTip } = work;
    const hasBranch = branchTip === undefined || (await isAncestor(git, branchTip, work.commit));
    if (hasBranch && (await this.#isKnown(git, work.commit, worktree, head))) return '';
    const all = hasBranch
      ? work.commit
      : await git.commit(
          await git.text(['rev-parse', `${work.commit}^{tree}`]),
          [work.commit, branchTip],
          `Work of ${query.taskId}\n`,
        );
    const ref = `${SAVED_REFS}/${query.action === 'apply' ? 'applied' : 'discarded'}/${query.taskId}`;
    await git.text(['update-ref', ref, all]);
    return ref;
  }

  /** True for a commit that the project already contains. */
  async #isKnown(
    git: ChangingGit,
    commit: string,
    worktree: WorktreeFacts,
    head: string | undefined,
  ): Promise<boolean> {
    if (await isAncestor(git, commit, worktree.base_commit)) return true;
    return head !== undefined && (await isAncestor(git, commit, head));
  }

  async #main(
    worktree: WorktreeFacts,
    signal: AbortSignal,
  ): Promise<{ readonly git: ChangingGit; readonly repository: Repository }> {
    const repository = await repositoryAt(this.#parts.roots, worktree.repository);
    await checkStores(this.#parts.roots, repository);
    return { repository, git: await changingGit(this.#parts.runner, repository, signal) };
  }

  /** The worktree's own repository. Throws NOT_A_REPOSITORY when its `.git` points elsewhere by now. */
  async #inner(
    worktree: WorktreeFacts,
    main: Repository,
    signal: AbortSignal,
  ): Promise<{ readonly git: ChangingGit; readonly repository: Repository }> {
    const repository = await repositoryAt(this.#parts.roots, worktree.path);
    const { top, gitDir, commonDir } = repository;
    if (
      top !== worktree.path ||
      commonDir !== main.commonDir ||
      dirname(gitDir) !== join(commonDir, 'worktrees')
    )
      throw notAWorktree(worktree.path, `its .git leads to ${gitDir}`);
    return { repository, git: await changingGit(this.#parts.runner, repository, signal) };
  }

  async #uncommittedNotes(repository: Repository, signal: AbortSignal): Promise<string[]> {
    const git = await repositoryGit(this.#parts.runner, repository, signal);
    const { counts } = await readStatus(git, undefined);
    const changed = counts.staged + counts.modified + counts.conflicted;
    if (changed === 0 && counts.untracked === 0) return [];
    return [
      `The project has uncommitted changes (${changed} changed, ${counts.untracked} untracked): they stay there, and the task does not see them.`,
    ];
  }

  /** Removes a worktree and its branch; returns a sentence about anything that could not be removed. */
  async #remove(git: ChangingGit, path: string, branch: string): Promise<string | undefined> {
    try {
      await rm(path, { recursive: true, force: true, maxRetries: 2 });
      // 128 when git knows no such worktree, since it was never created.
      await git.output(['worktree', 'remove', '--force', path], { okCodes: [0, 128] });
      await git.output(['update-ref', '-d', `refs/heads/${branch}`]);
      return undefined;
    } catch (error) {
      return `The worktree ${path} could not be removed completely: ${messageOf(error)}`;
    }
  }
}

/** Adds a worktree and corrects its `.git` file: git writes the temporary common folder there instead of the real one. */
async function addWorktree(
  git: ChangingGit,
  { commonDir }: Repository,
  made: { readonly path: string; readonly branch: string; readonly base: string },
): Promise<void> {
  const all = join(commonDir, 'worktrees');
  // git cannot create this folder itself, since it sees only a link to it.
  await mkdir(all, { recursive: true });
  await git.text(['worktree', 'add', '--quiet', '--no-track', '-b', made.branch, made.path, made.base]);
  const pointer = join(made.path, '.git');
  const read = await readRegularFile(pointer, MAX_POINTER_BYTES);
  if (read.state !== 'ok') throw notAWorktree(made.path, 'git wrote no .git into it');
  const name = basename(read.bytes.toString('utf8').trimEnd());
  await replaceFile(pointer, `gitdir: ${join(all, name)}\n`, { mode: 0o644, durable: false });
}

async function requireFolder(git: ChangingGit, base: string, within: string): Promise<void> {
  const { text } = await git.output(['cat-file', '-t', `${base}:${within}`], { okCodes: [0, 128] });
  if (text.trim() === 'tree') return;
  throw new BridgeError(
    'PATH_NOT_FOUND',
    `The folder '${within}' is not in the last commit, so a worktree would not contain it.`,
    'Commit it first, or start the task in a folder that is committed.',
  );
}
