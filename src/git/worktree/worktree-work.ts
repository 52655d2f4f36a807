import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { BridgeError, systemCodeOf } from '../../base/errors.js';
import { withTempFolder } from '../../base/files/temp-folder.js';
import { someNames } from '../../base/text/text.js';
import type { ChangingGit } from './changing-git.js';
import { doesNotFit } from './changing-git.js';
import { copyIndex } from '../run/copy-index.js';
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

/** Everything that was done in a worktree, as one commit. No ref names it yet, and the worktree is unchanged. */
export interface Work {
  readonly commit: string;
  /** HEAD of the worktree; equal to `commit` when everything was committed. */
  readonly head: string;
  /** Tip of the task's branch; undefined when the branch was deleted. */
  readonly branchTip: string | undefined;
}

/**
 * Collects committed and uncommitted changes, except ignored files. Throws WORK_DOES_NOT_FIT for what a commit cannot contain:
 * other repositories in the worktree, and submodules that were checked out there.
 */
export async function workIn(
  git: ChangingGit,
  worktree: Repository,
  branch: string,
  message: string,
): Promise<Work> {
  const head = await commitIfAny(git, 'HEAD');
  if (head === undefined) {
    throw doesNotFit(
      'The worktree has no commit checked out.',
      `Inspect it in a terminal: ${worktree.top}. Nothing was changed.`,
    );
  }
  await requireNoModules(worktree);
  // In a temporary folder, where programs in the project cannot change it: git trusts its index.
  return withTempFolder('claude-code-bridge-git-', async (scratch) => {
    const index = join(scratch, 'index');
    await copyIndex(join(worktree.gitDir, 'index'), index);
    const environment = { GIT_INDEX_FILE: index };
    await skipModules(git, worktree, environment);
    await git.text(['add', '--all'], { environment });
    await requireNoRepositories(git, head, environment);
    const tree = await git.text(['write-tree'], { environment });
    const isCommitted = tree === (await git.text(['rev-parse', `${head}^{tree}`]));
    const branchTip = await commitIfAny(git, `refs/heads/${branch}`);
    return { head, branchTip, commit: isCommitted ? head : await git.commit(tree, [head], message) };
  });
}

/** Throws WORK_DOES_NOT_FIT for a worktree with an unfinished merge or rebase, or whose HEAD lacks commits of the branch. */
export async function requireFinished(
  git: ChangingGit,
  worktree: Repository,
  work: Work,
  branch: string,
): Promise<void> {
  for (const name of UNFINISHED) {
    if (!(await exists(join(worktree.gitDir, name)))) continue;
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
  if (!(await exists(join(worktree.gitDir, 'modules')))) return;
  throw doesNotFit(
    'Submodules were checked out in the worktree, and commits in them would be lost with it.',
    `Push them, and finish by hand: the worktree is ${worktree.top}.`,
  );
}

/**
 * `git add` runs `git status` in each submodule that is checked out, with that submodule's settings, which may name programs. So
 * this throws if one is checked out, and makes `git add` leave the index entries of the others unchanged.
 */
async function skipModules(
  git: ChangingGit,
  worktree: Repository,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const entries = await git.fields(['ls-files', '--stage', '-z'], { environment });
  const modules = entries
    .filter((entry) => entry.toString('latin1').startsWith('160000 '))
    .map((entry) => entry.subarray(entry.indexOf('\t') + 1));
  if (modules.length === 0) return;
  const top = Buffer.from(`${worktree.top}/`);
  for (const module of modules)
    if (await exists(Buffer.concat([top, module, Buffer.from('/.git')]))) throw hasRepositories([module]);
  const input = Buffer.concat(modules.flatMap((module) => [module, Buffer.from([0])]));
  await git.text(['update-index', '--skip-worktree', '-z', '--stdin'], { environment, input });
}

/** `git add` stores a nested repository only as a commit id, so its contents would be lost with the worktree. */
async function requireNoRepositories(
  git: ChangingGit,
  head: string,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const fields = await git.fields(['diff-index', '--cached', '--raw', '-z', '--no-renames', head], {
    environment,
  });
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

async function exists(path: string | Buffer): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

export function notAWorktree(path: string, why: string): BridgeError {
  return new BridgeError(
    'NOT_A_REPOSITORY',
    `The worktree ${path} cannot be used: ${why}.`,
    'Inspect it in a terminal: git worktree list shows the worktrees of a repository.',
  );
}
