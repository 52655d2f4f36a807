import { join } from 'node:path';
import { BridgeError } from '../../base/errors.js';
import { someNames } from '../../base/text.js';
import type { ChangingGit } from './changing-git.js';
import { doesNotFit } from './changing-git.js';
import { isThere } from '../run/plain-index.js';
import type { Repository } from '../run/repository.js';
import { commitIfAny } from '../revision.js';
import { shownBytes } from '../diff/shown-bytes.js';

/** Files of git that exist during an unfinished operation. */
const UNFINISHED: readonly string[] = [
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'rebase-merge',
  'rebase-apply',
];

/** All that is in a worktree, committed or not, except ignored files. */
interface WholeTree {
  /** HEAD of the worktree. */
  readonly head: string;
  readonly tree: string;
  /** What git could not add, with its own words; the tree has it as HEAD does, or not at all. */
  readonly leftOut: string | undefined;
}

/** Everything that was done in a worktree, as one commit. No ref names it yet, and the worktree is unchanged. */
export interface Work extends WholeTree {
  /** Equal to `head` when everything was committed. */
  readonly commit: string;
  /** Tip of the task's branch; undefined when the branch was deleted. */
  readonly branchTip: string | undefined;
}

/** The work as a commit. Throws like `treeIn`. */
export async function workIn(
  git: ChangingGit,
  worktree: Repository,
  branch: string,
  message: string,
): Promise<Work> {
  const whole = await treeIn(git, worktree);
  const { head, tree } = whole;
  const isCommitted = tree === (await git.text(['rev-parse', `${head}^{tree}`]));
  const branchTip = await commitIfAny(git, `refs/heads/${branch}`);
  return { ...whole, branchTip, commit: isCommitted ? head : await git.commit(tree, [head], message) };
}

/**
 * Reads the whole tree. Throws WORK_DOES_NOT_FIT for what a commit cannot contain: other repositories in the worktree that have
 * commits, and submodules that were checked out there.
 */
export async function treeIn(git: ChangingGit, worktree: Repository): Promise<WholeTree> {
  const head = await commitIfAny(git, 'HEAD');
  if (head === undefined) {
    throw doesNotFit(
      'The worktree has no commit checked out.',
      `Inspect it in a terminal: ${worktree.top}. Nothing was changed.`,
    );
  }
  await requireNoModules(worktree);
  return git.withPlainIndex(async (plain) => {
    await skipModules(plain, worktree);
    const leftOut = await addAll(plain);
    await requireNoRepositories(plain, head);
    return { head, tree: await plain.text(['write-tree']), leftOut };
  });
}

/** Adds all that git can, and returns what it cannot, with its own words: a repository without a commit, a file that it may not read. */
async function addAll(git: ChangingGit): Promise<string | undefined> {
  try {
    await git.text(['add', '--all']);
    return undefined;
  } catch (error) {
    if (!(error instanceof BridgeError) || error.code !== 'GIT_FAILED') throw error;
    await git.output(['add', '--all', '--ignore-errors'], { okCodes: [0, 1] });
    const names = await git.fields(['ls-files', '--others', '--modified', '--exclude-standard', '-z']);
    if (names.length === 0) throw error;
    return `Left out of the work: ${someFiles(names)}, since ${error.message}.`;
  }
}

/** Throws WORK_DOES_NOT_FIT for work of another tree than the reviewed one, INVALID_ARGUMENTS where none is given. */
export function requireReviewed({ tree }: Work, reviewed: string | undefined, taskId: string): void {
  if (tree === reviewed) return;
  const hint = `Call get_task_result with task_id ${taskId}: it shows what is in the worktree now, and gives the id for reviewed. Nothing was changed.`;
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

/** Puts the work on the branch of the worktree, where a merge by hand finds it. The files stay as they are. */
export async function commitWork(
  git: ChangingGit,
  { commit, branchTip }: Work,
  branch: string,
): Promise<void> {
  if (branchTip === commit) return;
  await git.text(['update-ref', `refs/heads/${branch}`, commit, branchTip ?? '']);
  const { text } = await git.output(['symbolic-ref', '--quiet', 'HEAD'], { okCodes: [0, 1] });
  // What the index has is on the branch now.
  if (text.trim() === `refs/heads/${branch}`) await git.text(['read-tree', commit]);
}

/** Throws WORK_DOES_NOT_FIT for a worktree with an unfinished merge or rebase, or whose HEAD lacks commits of the branch. */
export async function requireFinished(
  git: ChangingGit,
  worktree: Repository,
  work: Work,
  branch: string,
): Promise<void> {
  for (const name of UNFINISHED) {
    if (!(await isThere(join(worktree.gitDir, name)))) continue;
    throw doesNotFit(
      `The worktree has an unfinished operation: its .git contains ${name}.`,
      `Finish or abort it in ${worktree.top}, or discard the work.`,
    );
  }
  if ((await git.fields(['ls-files', '--unmerged', '-z'])).length > 0)
    throw doesNotFit('The worktree has conflicts.', `Resolve them in ${worktree.top}, or discard the work.`);
  if (work.branchTip !== undefined && !(await isAncestor(git, work.branchTip, work.head))) {
    throw doesNotFit(
      `The branch ${branch} contains commits that are not checked out in the worktree.`,
      `Check out ${branch} in ${worktree.top} with everything to keep, or discard the work.`,
    );
  }
}

export async function isAncestor(git: ChangingGit, older: string, newer: string): Promise<boolean> {
  return (await git.output(['merge-base', '--is-ancestor', older, newer], { okCodes: [0, 1] })).code === 0;
}

/** Some of the file names from git, for a sentence. */
export function someFiles(names: readonly Buffer[]): string {
  return someNames(names.map((name) => shownBytes(name).text));
}

async function requireNoModules(worktree: Repository): Promise<void> {
  if (!(await isThere(join(worktree.gitDir, 'modules')))) return;
  throw doesNotFit(
    'Submodules were checked out in the worktree, and commits in them would be lost with it.',
    `Push them, and finish by hand: the worktree is ${worktree.top}.`,
  );
}

/**
 * `git add` runs `git status` in each submodule that is checked out, with that submodule's settings, which may name programs. So
 * this throws if one is checked out, and makes `git add` leave the index entries of the others unchanged.
 */
async function skipModules(git: ChangingGit, worktree: Repository): Promise<void> {
  const entries = await git.fields(['ls-files', '--stage', '-z']);
  const modules = entries
    .filter((entry) => entry.toString('latin1').startsWith('160000 '))
    .map((entry) => entry.subarray(entry.indexOf('\t') + 1));
  if (modules.length === 0) return;
  const top = Buffer.from(`${worktree.top}/`);
  for (const module of modules)
    if (await isThere(Buffer.concat([top, module, Buffer.from('/.git')]))) throw hasRepositories([module]);
  const input = Buffer.concat(modules.flatMap((module) => [module, Buffer.from([0])]));
  await git.text(['update-index', '--skip-worktree', '-z', '--stdin'], { input });
}

/** `git add` stores a nested repository only as a commit id, so its contents would be lost with the worktree. */
async function requireNoRepositories(git: ChangingGit, head: string): Promise<void> {
  const fields = await git.fields(['diff-index', '--cached', '--raw', '-z', '--no-renames', head]);
  const names = fields.filter(
    (_, index) => index % 2 === 1 && /^:\d{6} 160000 /.test(fields[index - 1]?.toString('latin1') ?? ''),
  );
  if (names.length === 0) return;
  throw hasRepositories(names);
}

function hasRepositories(names: readonly Buffer[]): BridgeError {
  return doesNotFit(
    `The worktree contains other repositories: ${someFiles(names)}.`,
    'Move them out of the worktree first: a commit cannot contain them.',
  );
}

export function notAWorktree(path: string, why: string): BridgeError {
  return new BridgeError(
    'NOT_A_REPOSITORY',
    `The worktree ${path} cannot be used: ${why}.`,
    'Inspect it in a terminal: git worktree list shows the worktrees of a repository.',
  );
}
