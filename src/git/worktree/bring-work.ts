import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BridgeError } from '../../base/errors.js';
import { withTempFolder } from '../../base/files/folders.js';
import { someNames } from '../../base/text.js';
import { patchOptions } from '../diff/diff-options.js';
import { doesNotFit, type ChangingGit } from './changing-git.js';
import type { Repository } from '../run/repository.js';
import { commitIfAny } from '../revision.js';
import { isAncestor, someFiles, type Work } from './worktree-work.js';

const PATCH: readonly string[] = ['diff', ...patchOptions, '--binary', '--full-index', '--no-renames'];

/** The exit code of git for an option that it does not know. */
const USAGE = 129;

/** The project's own repository, with its current HEAD. */
export interface Target {
  readonly git: ChangingGit;
  readonly repository: Repository;
  readonly head: string;
}

export async function targetOf(git: ChangingGit, repository: Repository): Promise<Target> {
  const head = await commitIfAny(git, 'HEAD');
  if (head !== undefined) return { git, repository, head };
  throw doesNotFit(
    `The project ${repository.top} is on a branch without commits.`,
    'Check out the branch that the work is for.',
  );
}

/**
 * Merges the work into the branch that is checked out, and returns its new commit. git refuses conflicts and overwriting of
 * uncommitted changes before it touches a file.
 */
export async function mergeWork(target: Target, work: Work, branch: string): Promise<string> {
  const { git, head } = target;
  const { code, text } = await git.output(['symbolic-ref', '--quiet', '--short', 'HEAD'], {
    okCodes: [0, 1],
  });
  if (code !== 0) {
    throw doesNotFit(
      `The project ${target.repository.top} is on no branch (detached HEAD).`,
      'Check out the branch that the work is for, or use "apply".',
    );
  }
  if (await isAncestor(git, work.commit, head)) return head;
  const commit = (await isAncestor(git, head, work.commit))
    ? work.commit
    : await git.commit(
        await mergedTree(target, work, branch),
        [head, work.commit],
        `Merge branch '${branch}' into ${text.trim()}\n`,
      );
  await requireNoFilters(git, head, commit, branch);
  const options = [
    '--ff-only',
    '--no-overwrite-ignore',
    '--no-autostash',
    '--no-verify-signatures',
    '--no-stat',
  ];
  try {
    await git.text(['merge', '--quiet', ...options, commit]);
  } catch (error) {
    throw refusedByGit(
      error,
      'The work cannot be merged',
      'Commit or stash your own changes to these files, then call again.',
    );
  }
  return commit;
}

/** Applies the changes to the working tree only, all of them or none. */
export async function applyWork(target: Target, work: Work, branch: string): Promise<void> {
  const { git, head } = target;
  const base = await commonBase(target, work);
  const to = base === head ? work.commit : ((await tryMerge(target, work, branch)) ?? work.commit);
  // Without a merged tree, use the changes since the common commit; git places them by their context lines.
  const from = to === work.commit ? base : head;
  const modules = (await git.fields(['diff-tree', '-r', '--raw', '-z', '--no-renames', from, to])).filter(
    (field) => /^:(?:160000|\d{6} 160000)/.test(field.toString('latin1')),
  );
  if (modules.length > 0)
    throw doesNotFit('The work changes submodules, which "apply" does not support.', 'Use "merge".');
  await requireNoFilters(git, from, to, branch);
  // In a temporary folder, where no program of the project can put a link in its place.
  await withTempFolder('claude-code-bridge-git-', async (scratch) => {
    const patch = join(scratch, 'patch');
    try {
      await git.text([...PATCH, `--output=${patch}`, from, to, '--']);
      if ((await stat(patch)).size > 0) await git.text(['apply', '--whitespace=nowarn', patch]);
    } catch (error) {
      throw refusedByGit(
        error,
        'The changes cannot be applied',
        'Commit or stash your own changes to these files, or use "merge".',
      );
    }
  });
}

async function commonBase({ git, head }: Target, work: Work): Promise<string> {
  const { code, text } = await git.output(['merge-base', head, work.commit], { okCodes: [0, 1] });
  if (code === 0) return text.trim();
  throw doesNotFit(
    'The work and the project share no commit.',
    'Merge its branch by hand: it has all of the work.',
  );
}

async function mergedTree(target: Target, work: Work, branch: string): Promise<string> {
  const tree = await tryMerge(target, work, branch);
  if (tree !== undefined) return tree;
  throw doesNotFit(
    'The project has new commits, and this git (older than 2.38) cannot merge without changing files.',
    `Merge ${branch} in a terminal, or use "apply".`,
  );
}

/**
 * The merged tree; undefined if git is too old to merge without a working tree: then it prints its usage. Throws WORK_DOES_NOT_FIT
 * for conflicts, and with git's words for what it refuses to merge.
 */
async function tryMerge({ git, head }: Target, work: Work, branch: string): Promise<string | undefined> {
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', head, work.commit];
  const { code, text } = await git.output(args, { okCodes: [0, 1, USAGE] }).catch((error: unknown) => {
    throw refusedByGit(
      error,
      'The work cannot be merged',
      `Merge ${branch} in a terminal: it has all of the work.`,
    );
  });
  const [tree, ...names] = text.split('\0').filter((field) => field !== '');
  if (code === USAGE) return undefined;
  if (code === 0) return tree;
  throw doesNotFit(
    `The work conflicts with the current state of the project in ${someNames(names)}.`,
    `Merge ${branch} by hand: it has all of the work, as commits. Or start a task for it. The project was not changed.`,
  );
}

/** Throws for files that need a filter, such as git-lfs: writing or committing them without it would be wrong. */
async function requireNoFilters(git: ChangingGit, from: string, to: string, branch: string): Promise<void> {
  if (!git.hasFilters) return;
  const names = await git.fields(['diff-tree', '-r', '--name-only', '-z', '--no-renames', from, to]);
  const filtered = await git.filtered(names);
  if (filtered.length === 0) return;
  throw doesNotFit(
    `Some files need a git filter, which the bridge does not run: ${someFiles(filtered)}.`,
    `Merge ${branch} in a terminal: it has all of the work.`,
  );
}

/** What git refused, as WORK_DOES_NOT_FIT; any other error as it is. */
export function refusedByGit(error: unknown, what: string, hint: string): unknown {
  if (!(error instanceof BridgeError) || error.code !== 'GIT_FAILED') return error;
  // git lists names on separate lines.
  return doesNotFit(`${what}: ${error.message.replaceAll(/ ⏎ (?:\\u0009)?/gu, ' ')}`, hint);
}
