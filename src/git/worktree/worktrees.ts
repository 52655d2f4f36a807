import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { BridgeError, messageOf, systemCodeOf } from '../../base/errors.js';
import { makeFolder, replaceFile } from '../../base/files/folders.js';
import { readRegularFile } from '../../base/files/regular-file.js';
import type { AllowedPath, AllowedRoots } from '../../projects/allowed-roots.js';
import { WORKTREES_FOLDER } from '../../projects/worktree-path.js';
import { commitIfAny } from '../revision.js';
import { findRepository, kindOf, repositoryAt, type Repository } from '../run/repository.js';
import { doesNotFit, noAbort, openGit, type GitDoor, type RepositoryGit } from '../run/repository-git.js';
import { disguisesOf, newDisguises } from '../state/project-state.js';
import { readStatus } from '../status.js';
import { applyWork, isAncestor, mergeWork } from './bring-work.js';
import { commitWork, requireFinished, requireReviewed, workIn, type Work } from './worktree-work.js';

/** Refs that preserve the commits of `apply` and `discard`: git never deletes what a ref names. */
const SAVED_REFS = 'refs/claude-code-bridge';
const NOTHING_NEW = 'There was nothing to merge: the project had all of the work already.';
const NO_WORK = 'The worktree held no work.';
const DELETED = 'The worktree was deleted: what was not committed in it went with it.';
const NO_FILTERS =
  'Git filters such as git-lfs were not run: the worktree contains these files as git stores them.';
/** A `.git` file contains one path. */
const MAX_POINTER_BYTES = 8_192;
/** Before the umask, like folders that git creates. */
const FOLDER_MODE = 0o777;
const IGNORE_ALL = '# Written by claude-code-bridge: worktrees of tasks are not for the repository.\n*\n';

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
  /** The last paragraph of the message of a merge. */
  readonly note?: string | undefined;
  /** Called before the first change, when all that may refuse it has been asked. */
  readonly onBegin?: (() => Promise<void>) | undefined;
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
  readonly #door: GitDoor;

  constructor(door: GitDoor) {
    this.#door = door;
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
    const { roots } = this.#door;
    const { within, ...repository } = await findRepository(roots, project);
    const git = await this.#git(repository, signal);
    const base = await commitIfAny(git, 'HEAD');
    if (base === undefined)
      throw new BridgeError(
        'NOT_A_REPOSITORY',
        `The repository ${repository.top} has no commit yet, so it cannot have a worktree.`,
        'Make a first commit, or start the task without a worktree.',
      );
    if (within !== undefined) await requireFolder(git, base, within);
    const notes = await uncommittedNotes(git);
    const path = join(await worktreesFolder(roots, repository.top), taskId);
    // Fails if the path exists, so that a cleanup removes only what was created here.
    await mkdir(path);
    try {
      await addWorktree(git, { path, branch, base });
      if (git.settings.filters.length > 0) notes.push(NO_FILTERS);
      const worktree = {
        project_path: project,
        repository: repository.top,
        path,
        branch,
        base_commit: base,
        notes,
        disguises: await disguisesOf(git),
      };
      return { folder: await roots.resolveDirectory(join(path, within ?? '')), worktree };
    } catch (error) {
      await removeWorktree(await this.#git(repository, noAbort), path, branch);
      throw error;
    }
  }

  /** Removes a worktree without work. Returns false, and removes nothing, when it contains work or cannot be checked. */
  async removeUnlessWork(worktree: WorktreeFacts): Promise<boolean> {
    const { path, branch } = worktree;
    try {
      const git = await this.#main(worktree);
      if ((await kindOf(path)) === 'folder') {
        const inner = await this.#inner(worktree, git.repository, noAbort);
        const work = await workIn(inner, branch, 'What was not committed.\n');
        if (work.leftOut !== undefined || !(await isKnown(git, work.commit, worktree))) return false;
      }
      const tip = await commitIfAny(git, `refs/heads/${branch}`);
      if (tip !== undefined && !(await isKnown(git, tip, worktree))) return false;
      return (await removeWorktree(git, path, branch)) === undefined;
    } catch (error) {
      // A worktree that cannot be checked may contain work.
      if (error instanceof BridgeError) return false;
      throw error;
    }
  }

  /**
   * Brings the work to where `result` says and removes the worktree, unless git could not read all of it. Throws like `create`, and
   * WORK_DOES_NOT_FIT with the project as it was; what was not committed is on the branch of the worktree then, unless the work was
   * not the reviewed one.
   */
  async finish(worktree: WorktreeFacts, query: FinishQuery, signal: AbortSignal): Promise<FinishReport> {
    const { path, branch } = worktree;
    const git = await this.#main(worktree);
    if ((await kindOf(path)) !== 'folder') return this.#finishGone(git, worktree, query);
    const inner = await this.#inner(worktree, git.repository, signal);
    const work = await workIn(inner, branch, query.message);
    // From here on, cancelling has no effect: an unfinished merge would be worse than a late answer.
    if (query.action !== 'discard') {
      requireReviewed(work, query.reviewed, query.taskId);
      await requireNoDisguises(git, worktree);
      await requireFinished(inner, work);
    }
    await query.onBegin?.();
    if (query.action !== 'discard') await commitWork(inner, work);
    const head = await commitIfAny(git, 'HEAD');
    const result = await bring(git, head, { worktree, work, query });
    const had = query.action === 'merge' && result === head ? [NOTHING_NEW] : [];
    if (result === '') had.push(NO_WORK);
    const end =
      work.leftOut === undefined
        ? ((await removeWorktree(git, path, branch)) ?? 'The worktree and its branch were removed.')
        : `${work.leftOut} The worktree ${path} stays for it; git worktree remove --force removes it, and git branch -D ${branch} its branch.`;
    return { result, tree: work.tree, notes: [...had, end] };
  }

  /** Of a worktree that was deleted, what was committed is on its branch. */
  async #finishGone(git: RepositoryGit, worktree: WorktreeFacts, query: FinishQuery): Promise<FinishReport> {
    const { path, branch, base_commit } = worktree;
    const tip = await commitIfAny(git, `refs/heads/${branch}`);
    const hasCommits = tip !== undefined && !(await isAncestor(git, tip, base_commit));
    if (query.action !== 'discard') {
      const left = hasCommits
        ? `its commits are on the branch ${branch}: merge that by hand, or discard it`
        : 'there are no commits of the task: discard it';
      throw notAWorktree(path, `it was deleted, and ${left}`);
    }
    const commit = tip ?? base_commit;
    const tree = await git.text(['rev-parse', `${commit}^{tree}`]);
    const work = { commit, head: commit, tree, branch, branchTip: tip, leftOut: undefined };
    await query.onBegin?.();
    const result = await saveWork(git, { worktree, work, query });
    const empty = tip === undefined ? 'was deleted, too' : 'held no commits of the task and was removed';
    const words = `Its branch ${hasCommits ? 'was removed' : empty}.`;
    const end = (await removeWorktree(git, path, branch)) ?? words;
    return { result, tree, notes: [DELETED, end] };
  }

  async #git(repository: Repository, signal: AbortSignal): Promise<RepositoryGit> {
    return (await openGit(this.#door, repository, signal)).changing();
  }

  /** The repository of the project. */
  async #main({ repository }: WorktreeFacts): Promise<RepositoryGit> {
    return this.#git(await repositoryAt(this.#door.roots, repository), noAbort);
  }

  /** The worktree's own repository. Throws NOT_A_REPOSITORY when its `.git` points elsewhere by now. */
  async #inner({ path }: WorktreeFacts, main: Repository, signal: AbortSignal): Promise<RepositoryGit> {
    const repository = await repositoryAt(this.#door.roots, path);
    const { top, gitDir, commonDir } = repository;
    if (top !== path || commonDir !== main.commonDir || dirname(gitDir) !== join(commonDir, 'worktrees'))
      throw notAWorktree(path, `its .git leads to ${gitDir}`);
    return this.#git(repository, signal);
  }
}

/** A finish of some work. */
interface Finish {
  readonly worktree: WorktreeFacts;
  readonly work: Work;
  readonly query: FinishQuery;
}

/** Brings the work into the project, unless it is discarded, and returns where it is: the empty text when there was none. */
async function bring(git: RepositoryGit, head: string | undefined, finish: Finish): Promise<string> {
  const { worktree, work, query } = finish;
  if (query.action === 'discard') return saveWork(git, finish);
  const isMerge = query.action === 'merge';
  if (isMerge && (await isAncestor(git, work.commit, worktree.base_commit))) return '';
  if (head === undefined)
    throw doesNotFit(
      `The project ${git.repository.top} is on a branch without commits.`,
      'Check out the branch that the work is for.',
    );
  if (isMerge) return mergeWork(git, head, { ...work, note: query.note });
  await applyWork(git, head, work);
  return saveWork(git, finish);
}

/** Creates a ref to all of the work; returns the empty text when there is none. */
async function saveWork(git: RepositoryGit, { worktree, work, query }: Finish): Promise<string> {
  const { commit, branchTip } = work;
  const hasBranch = branchTip === undefined || (await isAncestor(git, branchTip, commit));
  if (hasBranch && (await isKnown(git, commit, worktree))) return '';
  const all = hasBranch
    ? commit
    : await git.commit(work.tree, [commit, branchTip], `Work of ${query.taskId}\n`);
  const ref = `${SAVED_REFS}/${query.action === 'apply' ? 'applied' : 'discarded'}/${query.taskId}`;
  await git.text(['update-ref', ref, all]);
  return ref;
}

/** True for a commit that the project already contains. */
async function isKnown(git: RepositoryGit, commit: string, { base_commit }: WorktreeFacts): Promise<boolean> {
  if (await isAncestor(git, commit, base_commit)) return true;
  const head = await commitIfAny(git, 'HEAD');
  return head !== undefined && (await isAncestor(git, commit, head));
}

async function requireNoDisguises(git: RepositoryGit, { disguises = [] }: WorktreeFacts): Promise<void> {
  const fresh = newDisguises(await disguisesOf(git), disguises);
  if (fresh !== undefined)
    throw doesNotFit(
      `Since the task began the repository has what makes git show other commits or files than it holds: ${fresh}.`,
      'Remove them (git replace -d <object>; the lines in .git/info/grafts and .git/shallow), or discard the work. Nothing was changed.',
    );
}

async function uncommittedNotes(git: RepositoryGit): Promise<string[]> {
  const { staged, modified, conflicted, untracked } = (await readStatus(git)).lists;
  const changed = staged.length + modified.length + conflicted.length;
  if (changed === 0 && untracked.length === 0) return [];
  return [
    `The project has uncommitted changes (${changed} changed, ${untracked.length} untracked): they stay there, and the task does not see them.`,
  ];
}

/** Adds a worktree and corrects its `.git` file: git writes the temporary common folder there instead of the real one. */
async function addWorktree(
  git: RepositoryGit,
  { path, branch, base }: { readonly path: string; readonly branch: string; readonly base: string },
): Promise<void> {
  const all = join(git.repository.commonDir, 'worktrees');
  // git cannot create this folder itself, since it sees only a link to it.
  await makeFolder(all, FOLDER_MODE);
  await git.text(['worktree', 'add', '--quiet', '--no-track', '-b', branch, path, base]);
  const pointer = join(path, '.git');
  const read = await readRegularFile(pointer, MAX_POINTER_BYTES);
  if (read.state !== 'ok') throw notAWorktree(path, 'git wrote no .git into it');
  const name = basename(read.bytes.toString('utf8').trimEnd());
  await replaceFile(pointer, `gitdir: ${join(all, name)}\n`, { mode: 0o644, durable: false });
}

/** Removes a worktree and its branch; returns a sentence about anything that could not be removed. */
async function removeWorktree(git: RepositoryGit, path: string, branch: string): Promise<string | undefined> {
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

async function requireFolder(git: RepositoryGit, base: string, within: string): Promise<void> {
  const { text } = await git.output(['cat-file', '-t', `${base}:${within}`], { okCodes: [0, 128] });
  if (text.trim() === 'tree') return;
  throw new BridgeError(
    'PATH_NOT_FOUND',
    `The folder '${within}' is not in the last commit, so a worktree would not contain it.`,
    'Commit it first, or start the task in a folder that is committed.',
  );
}

/**
 * The folder for the worktrees of a repository, created if missing, with a `.gitignore` that hides it. Throws NOT_WRITABLE, and
 * PATH_NOT_ALLOWED when a part of its path is a link.
 */
async function worktreesFolder(roots: AllowedRoots, top: AllowedPath): Promise<AllowedPath> {
  const folder = join(top, WORKTREES_FOLDER);
  try {
    // Checked before creating anything, since links are followed, and again afterwards, since one may have been added meanwhile.
    await requireReal(roots, folder);
    // A repository that is gone by now is not made again.
    for (const path of [dirname(folder), folder]) await makeFolder(path, FOLDER_MODE);
    await writeFile(join(folder, '.gitignore'), IGNORE_ALL, { flag: 'wx' }).catch((error: unknown) => {
      if (systemCodeOf(error) !== 'EEXIST') throw error;
    });
    return await requireReal(roots, folder);
  } catch (error) {
    if (error instanceof BridgeError) throw error;
    throw new BridgeError(
      'NOT_WRITABLE',
      `Cannot create a worktree in ${folder}: ${messageOf(error)}.`,
      'Make the folder writable, or start the task without a worktree.',
      { cause: error },
    );
  }
}

async function requireReal(roots: AllowedRoots, folder: string): Promise<AllowedPath> {
  const real = await roots.resolve(folder);
  if (real === folder) return real;
  throw new BridgeError(
    'PATH_NOT_ALLOWED',
    `The worktrees folder ${folder} is a link to ${real}.`,
    'Remove the link, or start the task without a worktree.',
  );
}

function notAWorktree(path: string, why: string): BridgeError {
  return new BridgeError(
    'NOT_A_REPOSITORY',
    `The worktree ${path} cannot be used: ${why}.`,
    'Inspect it in a terminal: git worktree list shows the worktrees of a repository.',
  );
}
