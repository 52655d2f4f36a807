import { mkdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { replaceFile } from '../../base/files/atomic-file.js';
import type { Clock } from '../../base/clock.js';
import { BridgeError, messageOf } from '../../base/errors.js';
import { readRegularFile } from '../../base/files/regular-file.js';
import type { AllowedPath, AllowedRoots } from '../../projects/allowed-roots.js';
import { applyWork, mergeWork, targetOf } from './bring-work.js';
import { changingGit, type ChangingGit } from './changing-git.js';
import { ObjectStores } from '../run/object-stores.js';
import { findRepository, gitOf, type Repository } from '../run/repository.js';
import { repositoryGit } from '../run/repository-git.js';
import { commitIn } from '../revision.js';
import type { GitRunner } from '../run/run-git.js';
import { readStatus } from '../status.js';
import { worktreesFolder } from './worktree-folder.js';
import { isAncestor, notAWorktree, requireSettled, workIn, type Work } from './worktree-work.js';

/** Refs that keep what `apply` and `discard` leave behind: git never collects what a ref names. */
const KEPT_REFS = 'refs/claude-code-bridge';
/** A `.git` file is one path. */
const MAX_POINTER_BYTES = 8_192;
/** Removing many files is not cut short by a caller that lost patience. */
const never = new AbortController().signal;

export interface WorktreeParts {
  readonly roots: AllowedRoots;
  readonly runner: GitRunner;
  readonly clock: Clock;
}

/** A task's worktree: the facts by which it is found again. */
export interface WorktreeFacts {
  readonly project_path: string;
  readonly repository: string;
  readonly path: string;
  readonly branch: string;
  readonly base_commit: string;
  readonly notes: string[];
}

export interface FinishQuery {
  readonly action: 'merge' | 'apply' | 'discard';
  readonly taskId: string;
  /** For the commit of what was not committed. */
  readonly message: string;
}

export interface FinishReport {
  /** The commit that the project is at after a merge; else the ref that keeps the work, or nothing where there was none. */
  readonly result: string;
  readonly notes: readonly string[];
}

/** Git worktrees for tasks: made, brought home, and removed with nothing lost. Nothing that the repository names is run. */
export class Worktrees {
  readonly #parts: WorktreeParts;
  readonly #stores: ObjectStores;

  constructor(parts: WorktreeParts) {
    this.#parts = parts;
    this.#stores = new ObjectStores(parts.roots, parts.clock);
  }

  /**
   * A worktree at the last commit, on a branch of its own. `folder` is the same folder in it as `project` is of its
   * repository. Throws NOT_A_REPOSITORY, PATH_NOT_FOUND, PATH_NOT_ALLOWED, NOT_WRITABLE, GIT_FAILED; nothing is left then.
   */
  async create(
    project: AllowedPath,
    taskId: string,
    signal: AbortSignal,
  ): Promise<{ readonly folder: AllowedPath; readonly worktree: WorktreeFacts }> {
    const { roots } = this.#parts;
    const { repository, within } = await findRepository(roots, project);
    await this.#stores.check(repository);
    const git = await changingGit(this.#parts.runner, repository, signal);
    const base = await commitIn(git, 'HEAD');
    if (base === undefined) {
      throw new BridgeError(
        'NOT_A_REPOSITORY',
        `The repository ${repository.top} has no commit yet, so no worktree can be made from it.`,
        'Make a first commit, or start the task without a worktree.',
      );
    }
    if (within !== undefined) await requireFolder(git, base, within);
    const notes = await this.#leftBehind(repository, signal);
    const path = join(await worktreesFolder(roots, repository.top), taskId);
    const branch = `claude/${taskId}`;
    // Fails where there is something: only what was made here is removed when it comes to that.
    await mkdir(path);
    try {
      await addWorktree(git, repository, { path, branch, base });
      if (git.filters.length > 0)
        notes.push(
          'Filters of git, such as git-lfs, were not run: such files are in the worktree as git holds them.',
        );
      const folder = await roots.resolveDirectory(within === undefined ? path : join(path, within));
      const facts = {
        project_path: project,
        repository: repository.top,
        path,
        branch,
        base_commit: base,
        notes,
      };
      return { folder, worktree: facts };
    } catch (error) {
      await this.#remove(await changingGit(this.#parts.runner, repository, never), path, branch);
      throw error;
    }
  }

  /** Removes what holds no work. False when there is work, or when it cannot be told: then nothing was removed. */
  async removeUnlessWork(worktree: WorktreeFacts): Promise<boolean> {
    try {
      const { git, repository } = await this.#main(worktree, never);
      const head = await commitIn(git, 'HEAD');
      if (await isFolder(worktree.path)) {
        const inner = await this.#inner(worktree, repository, never);
        const work = await workIn(inner.git, inner.repository, worktree.branch, 'What was not committed.\n');
        if (!(await this.#isKnown(git, work.commit, worktree, head))) return false;
      }
      const tip = await commitIn(git, `refs/heads/${worktree.branch}`);
      if (tip !== undefined && !(await this.#isKnown(git, tip, worktree, head))) return false;
      return (await this.#remove(git, worktree.path, worktree.branch)) === undefined;
    } catch (error) {
      // Whatever is in its way: work that cannot be seen is work.
      if (error instanceof BridgeError) return false;
      throw error;
    }
  }

  /**
   * Ends a worktree. Throws WORK_DOES_NOT_FIT with everything as it was, and as `create`; when it resolves the work is where
   * `result` says.
   */
  async finish(worktree: WorktreeFacts, query: FinishQuery, signal: AbortSignal): Promise<FinishReport> {
    const { repository } = await this.#main(worktree, signal);
    if (!(await isFolder(worktree.path)))
      throw notAWorktree(worktree.path, `it is gone; what was committed is on the branch ${worktree.branch}`);
    const inner = await this.#inner(worktree, repository, signal);
    const work = await workIn(inner.git, inner.repository, worktree.branch, query.message);
    if (query.action !== 'discard') await requireSettled(inner.git, inner.repository, work, worktree.branch);
    // What is begun here is not cut short: half a merge would be worse than an answer that nobody waits for.
    const patient = await changingGit(this.#parts.runner, repository, never);
    const result = await this.#bring(patient, repository, inner.repository, worktree, work, query);
    const left = await this.#remove(patient, worktree.path, worktree.branch);
    return { result, notes: left === undefined ? [] : [left] };
  }

  async #bring(
    git: ChangingGit,
    repository: Repository,
    inner: Repository,
    worktree: WorktreeFacts,
    work: Work,
    query: FinishQuery,
  ): Promise<string> {
    if (query.action === 'merge') return mergeWork(await targetOf(git, repository), work, worktree.branch);
    if (query.action === 'apply')
      await applyWork(await targetOf(git, repository), work, worktree.branch, inner.gitDir);
    return this.#keep(git, worktree, work, query);
  }

  /** A ref that holds all of the work; the empty text when there is none. */
  async #keep(git: ChangingGit, worktree: WorktreeFacts, work: Work, query: FinishQuery): Promise<string> {
    const head = await commitIn(git, 'HEAD');
    const { branchTip } = work;
    const isBranchHeld = branchTip === undefined || (await isAncestor(git, branchTip, work.commit));
    if (isBranchHeld && (await this.#isKnown(git, work.commit, worktree, head))) return '';
    const all = isBranchHeld
      ? work.commit
      : await git.commit(
          await git.text(['rev-parse', `${work.commit}^{tree}`]),
          [work.commit, branchTip],
          `Work of ${query.taskId}\n`,
        );
    const ref = `${KEPT_REFS}/${query.action === 'apply' ? 'applied' : 'discarded'}/${query.taskId}`;
    await git.text(['update-ref', ref, all]);
    return ref;
  }

  /** True for a commit that the project has anyway. */
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
    const top = await this.#parts.roots.resolveDirectory(worktree.repository);
    const found = await gitOf(this.#parts.roots, top);
    if (found.state !== 'found')
      throw notAWorktree(worktree.path, `there is no repository at ${top} any more`);
    await this.#stores.check(found.repository);
    return {
      repository: found.repository,
      git: await changingGit(this.#parts.runner, found.repository, signal),
    };
  }

  /** The worktree's own repository. Throws NOT_A_REPOSITORY when its `.git` leads elsewhere by now. */
  async #inner(
    worktree: WorktreeFacts,
    main: Repository,
    signal: AbortSignal,
  ): Promise<{ readonly git: ChangingGit; readonly repository: Repository }> {
    const top = await this.#parts.roots.resolveDirectory(worktree.path);
    const found = await gitOf(this.#parts.roots, top);
    if (found.state !== 'found') throw notAWorktree(worktree.path, 'its .git is none');
    const { gitDir, commonDir } = found.repository;
    if (
      top !== worktree.path ||
      commonDir !== main.commonDir ||
      dirname(gitDir) !== join(commonDir, 'worktrees')
    )
      throw notAWorktree(worktree.path, `its .git leads to ${gitDir}`);
    return {
      repository: found.repository,
      git: await changingGit(this.#parts.runner, found.repository, signal),
    };
  }

  async #leftBehind(repository: Repository, signal: AbortSignal): Promise<string[]> {
    const git = await repositoryGit(this.#parts.runner, repository, signal);
    const { counts } = await readStatus(git, undefined);
    const changed = counts.staged + counts.modified + counts.conflicted;
    if (changed === 0 && counts.untracked === 0) return [];
    return [
      `The project has uncommitted changes (${changed} changed, ${counts.untracked} untracked): they stay there, and the task does not see them.`,
    ];
  }

  /** Removes a worktree and its branch; gives a sentence about what could not be removed. */
  async #remove(git: ChangingGit, path: string, branch: string): Promise<string | undefined> {
    try {
      await rm(path, { recursive: true, force: true, maxRetries: 2 });
      // Answers with an error where git knows no such worktree: it was never made.
      await git.output(['worktree', 'remove', '--force', path], { answers: [0, 128] });
      await git.output(['update-ref', '-d', `refs/heads/${branch}`]);
      return undefined;
    } catch (error) {
      return `The worktree ${path} could not be removed whole: ${messageOf(error)}`;
    }
  }
}

/** The worktree names its repository by the folder in which git found it; it is to be the repository's own. */
async function addWorktree(
  git: ChangingGit,
  { commonDir }: Repository,
  made: { readonly path: string; readonly branch: string; readonly base: string },
): Promise<void> {
  const all = join(commonDir, 'worktrees');
  // git would not make what a link stands for.
  await mkdir(all, { recursive: true });
  await git.text(['worktree', 'add', '--quiet', '--no-track', '-b', made.branch, made.path, made.base]);
  const pointer = join(made.path, '.git');
  const read = await readRegularFile(pointer, MAX_POINTER_BYTES);
  if (read.state !== 'ok') throw notAWorktree(made.path, 'git wrote no .git into it');
  const name = basename(read.bytes.toString('utf8').trimEnd());
  await replaceFile(pointer, `gitdir: ${join(all, name)}\n`, { mode: 0o644, durable: false });
}

async function requireFolder(git: ChangingGit, base: string, within: string): Promise<void> {
  const { text } = await git.output(['cat-file', '-t', `${base}:${within}`], { answers: [0, 128] });
  if (text.trim() === 'tree') return;
  throw new BridgeError(
    'PATH_NOT_FOUND',
    `The folder '${within}' is not in the last commit, so a worktree would not have it.`,
    'Commit it first, or start the task in a folder that is committed.',
  );
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // Gone, or closed to us: what cannot be opened is not finished either.
    return false;
  }
}
