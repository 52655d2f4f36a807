import { join } from 'node:path';
import { BridgeError, type Next } from '../../base/errors.js';
import { commitIfAny, treeIfAny } from '../revision.js';
import { doesNotFit, isThere, nulLines, type RepositoryGit } from '../run/repository-git.js';
import { isAncestor, someFiles } from './bring-work.js';

/** Files of git that exist during an unfinished operation. */
const UNFINISHED = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'rebase-merge', 'rebase-apply'];
const NOT_ADDED = ['ls-files', '--others', '--modified', '--exclude-standard', '-z'];

/** Everything that was done in a worktree, as one commit. No ref names it yet, and the worktree is unchanged. */
export interface Work {
  /** HEAD of the worktree. */
  readonly head: string;
  /** All that is in it, committed or not, except ignored files. */
  readonly tree: string;
  /** What git could not add, with its own words; the tree has it as HEAD does, or not at all. */
  readonly leftOut: string | undefined;
  /** Equal to `head` when everything was committed. */
  readonly commit: string;
  readonly branch: string;
  /** Tip of the task's branch; undefined when the branch was deleted. */
  readonly branchTip: string | undefined;
}

/** The work as a commit. Throws like `treeIn`. */
export async function workIn(git: RepositoryGit, branch: string, message: string): Promise<Work> {
  const whole = await treeIn(git);
  const { head, tree } = whole;
  const isCommitted = tree === (await treeIfAny(git, head));
  const branchTip = await commitIfAny(git, `refs/heads/${branch}`);
  const commit = isCommitted ? head : await git.commit(tree, [head], message);
  return { ...whole, branch, branchTip, commit };
}

/**
 * Reads the whole tree of a worktree. Throws WORK_DOES_NOT_FIT for what a commit cannot contain: other repositories in it that have
 * commits, and submodules that were checked out there.
 */
export async function treeIn(git: RepositoryGit): Promise<Pick<Work, 'head' | 'tree' | 'leftOut'>> {
  const { top, gitDir } = git.repository;
  const head = await commitIfAny(git, 'HEAD');
  if (head === undefined)
    throw doesNotFit(
      'The worktree has no commit checked out.',
      `Inspect it in a terminal: ${top}. Nothing was changed.`,
    );
  if (await isThere(join(gitDir, 'modules')))
    throw doesNotFit(
      'Submodules were checked out in the worktree, and commits in them would be lost with it.',
      `Push them, and finish by hand: the worktree is ${top}.`,
    );
  return git.withPlainIndex(async (plain) => {
    await skipModules(plain);
    const leftOut = await addAll(plain);
    // `git add` stores a nested repository only as a commit id, so its contents would be lost with the worktree.
    const fields = await plain.fields(['diff-index', '--cached', '--raw', '-z', '--no-renames', head]);
    const nested = fields.filter((_, at) => /^:\d{6} 160000 /.test(fields[at - 1]?.toString('latin1') ?? ''));
    if (nested.length > 0) throw hasRepositories(nested);
    return { head, tree: await plain.text(['write-tree']), leftOut };
  });
}

/** Adds all that git can, and returns what it cannot, with its own words: a repository without a commit, a file that it may not read. */
async function addAll(git: RepositoryGit): Promise<string | undefined> {
  try {
    await git.text(['add', '--all']);
    return undefined;
  } catch (error) {
    if (!(error instanceof BridgeError) || error.code !== 'GIT_FAILED') throw error;
    await git.output(['add', '--all', '--ignore-errors'], { okCodes: [0, 1] });
    const names = await git.fields(NOT_ADDED);
    if (names.length === 0) throw error;
    return `Left out of the work: ${someFiles(names)}, since ${error.message}.`;
  }
}

/**
 * `git add` runs `git status` in each submodule that is checked out, with that submodule's settings, which may name programs. So
 * this throws if one is checked out, and makes `git add` leave the index entries of the others unchanged.
 */
async function skipModules(git: RepositoryGit): Promise<void> {
  const entries = await git.fields(['ls-files', '--stage', '-z']);
  const modules = entries
    .filter((entry) => entry.toString('latin1', 0, 7) === '160000 ')
    .map((entry) => entry.subarray(entry.indexOf('\t') + 1));
  if (modules.length === 0) return;
  for (const module of modules) {
    const path = Buffer.concat([Buffer.from(`${git.repository.top}/`), module, Buffer.from('/.git')]);
    if (await isThere(path)) throw hasRepositories([module]);
  }
  await git.text(['update-index', '--skip-worktree', '-z', '--stdin'], { input: nulLines(modules) });
}

function hasRepositories(names: readonly Buffer[]): BridgeError {
  return doesNotFit(
    `The worktree contains other repositories: ${someFiles(names)}.`,
    'Move them out of the worktree first: a commit cannot contain them.',
  );
}

/** Throws WORK_DOES_NOT_FIT for work of another tree than the reviewed one, INVALID_ARGUMENTS where none is given. */
export function requireReviewed({ tree }: Work, reviewed: string | undefined, taskId: string): void {
  if (tree === reviewed) return;
  const hint: Next = ['Nothing was changed.', { do: 'result', task: taskId }];
  if (reviewed === undefined || reviewed === '')
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      'Only work that was reviewed is merged or applied: reviewed is missing.',
      hint,
    );
  throw doesNotFit(
    `The worktree has changed since: it holds ${tree} now, and ${reviewed} was reviewed.`,
    hint,
  );
}

/** Throws WORK_DOES_NOT_FIT for a worktree with an unfinished merge or rebase, or whose HEAD lacks commits of the branch. */
export async function requireFinished(git: RepositoryGit, work: Work): Promise<void> {
  const { top, gitDir } = git.repository;
  for (const name of UNFINISHED)
    if (await isThere(join(gitDir, name)))
      throw doesNotFit(
        `The worktree has an unfinished operation: its .git contains ${name}.`,
        `Finish or abort it in ${top}, or discard the work.`,
      );
  if ((await git.fields(['ls-files', '--unmerged', '-z'])).length > 0)
    throw doesNotFit('The worktree has conflicts.', `Resolve them in ${top}, or discard the work.`);
  if (work.branchTip !== undefined && !(await isAncestor(git, work.branchTip, work.head)))
    throw doesNotFit(
      `The branch ${work.branch} contains commits that are not checked out in the worktree.`,
      `Check out ${work.branch} in ${top} with everything to keep, or discard the work.`,
    );
}

/** Puts the work on the branch of the worktree, where a merge by hand finds it. The files stay as they are. */
export async function commitWork(git: RepositoryGit, { commit, branch, branchTip }: Work): Promise<void> {
  if (branchTip === commit) return;
  await git.text(['update-ref', `refs/heads/${branch}`, commit, branchTip ?? '']);
  const { text } = await git.output(['symbolic-ref', '--quiet', 'HEAD'], { okCodes: [0, 1] });
  // What the index has is on the branch now.
  if (text.trim() === `refs/heads/${branch}`) await git.text(['read-tree', commit]);
}
