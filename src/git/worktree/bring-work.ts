import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BridgeError } from '../../base/errors.js';
import { withTempFolder } from '../../base/files/folders.js';
import { someNames } from '../../base/text.js';
import { patchOptions } from '../diff/read-diff.js';
import { shownBytes } from '../diff/patch-text.js';
import { doesNotFit, type RepositoryGit } from '../run/repository-git.js';

const PATCH: readonly string[] = ['diff', ...patchOptions, '--binary', '--full-index', '--no-renames'];
const MERGE =
  'merge --quiet --ff-only --no-overwrite-ignore --no-autostash --no-verify-signatures --no-stat'.split(' ');
const MERGE_TREE = 'merge-tree --write-tree -z --name-only --no-messages'.split(' ');
const BETWEEN = 'diff-tree -r -z --no-renames'.split(' ');
/** The exit code of git for an option that it does not know. */
const USAGE = 129;

/** Work to bring into a project: a commit, and the branch that has it. */
export interface Brought {
  readonly commit: string;
  readonly branch: string;
  /** A last paragraph for the message of the merge, which is then a commit also where the branch could go forward. */
  readonly note?: string | undefined;
}

/**
 * Merges the work into the branch that is checked out at `head`, and returns its new commit. git refuses conflicts and overwriting of
 * uncommitted changes before it touches a file. Throws WORK_DOES_NOT_FIT.
 */
export async function mergeWork(git: RepositoryGit, head: string, work: Brought): Promise<string> {
  const { commit: theirs, branch, note } = work;
  const { code, text } = await git.output(['symbolic-ref', '--quiet', '--short', 'HEAD'], {
    okCodes: [0, 1],
  });
  if (code !== 0)
    throw doesNotFit(
      `The project ${git.repository.top} is on no branch (detached HEAD).`,
      'Check out the branch that the work is for, or use "apply".',
    );
  if (await isAncestor(git, theirs, head)) return head;
  const title = `Merge branch '${branch}' into ${text.trim()}\n`;
  const message = note === undefined ? title : `${title}\n${note}\n`;
  const isForward = await isAncestor(git, head, theirs);
  const tree = isForward ? `${theirs}^{tree}` : await mergedTree(git, head, work);
  const commit = isForward && note === undefined ? theirs : await git.commit(tree, [head, theirs], message);
  await requireNoFilters(git, head, commit, branch);
  try {
    await git.text([...MERGE, commit]);
  } catch (error) {
    const hint = 'Commit or stash your own changes to these files, then try again.';
    throw refusedByGit(error, 'The work cannot be merged', hint);
  }
  return commit;
}

/** Applies the changes to the working tree only, all of them or none. Throws WORK_DOES_NOT_FIT. */
export async function applyWork(git: RepositoryGit, head: string, work: Brought): Promise<void> {
  const { code, text } = await git.output(['merge-base', head, work.commit], { okCodes: [0, 1] });
  const base = text.trim();
  if (code !== 0)
    throw doesNotFit(
      'The work and the project share no commit.',
      'Merge its branch by hand: it has all of the work.',
    );
  const to = base === head ? work.commit : await mergedTree(git, head, work);
  const changed = await git.fields([...BETWEEN, '--raw', head, to]);
  if (changed.some((field) => /^:(?:160000|\d{6} 160000)/.test(field.toString('latin1'))))
    throw doesNotFit('The work changes submodules, which "apply" does not support.', 'Use "merge".');
  await requireNoFilters(git, head, to, work.branch);
  // In a temporary folder, where no program of the project can put a link in its place.
  await withTempFolder('claude-code-bridge-git-', async (scratch) => {
    const patch = join(scratch, 'patch');
    try {
      await git.text([...PATCH, `--output=${patch}`, head, to, '--']);
      if ((await stat(patch)).size > 0) await git.text(['apply', '--whitespace=nowarn', patch]);
    } catch (error) {
      const hint = 'Commit or stash your own changes to these files, or use "merge".';
      throw refusedByGit(error, 'The changes cannot be applied', hint);
    }
  });
}

/** The merged tree. Throws WORK_DOES_NOT_FIT for conflicts, and with git's words for what it refuses to merge. */
async function mergedTree(git: RepositoryGit, head: string, { commit, branch }: Brought): Promise<string> {
  const byHand = `Merge ${branch} by hand: it has all of the work, as commits. Or start a task for it. The project was not changed.`;
  const { tree, conflicts } = await treeOfMerge(git, head, commit).catch((error: unknown) => {
    throw refusedByGit(error, 'The work cannot be merged', byHand);
  });
  if (conflicts.length === 0) return tree;
  throw doesNotFit(
    `The work conflicts with the current state of the project in ${someNames(conflicts)}.`,
    byHand,
  );
}

/** The tree of two merged commits, and the files in conflict. Throws like the runner, and WORK_DOES_NOT_FIT for an old git. */
export async function treeOfMerge(
  git: RepositoryGit,
  ours: string,
  theirs: string,
  options: readonly string[] = [],
): Promise<{ readonly tree: string; readonly conflicts: readonly string[] }> {
  const args = [...options, ...MERGE_TREE, ours, theirs];
  const { code, text } = await git.output(args, { okCodes: [0, 1, USAGE] });
  if (code === USAGE)
    throw doesNotFit(
      'Both have changed, and this git (older than 2.38) cannot merge without changing files.',
      'Update git, or do it by hand. Nothing was changed.',
    );
  const [tree = '', ...names] = text.split('\0').filter((field) => field !== '');
  return { tree, conflicts: code === 0 ? [] : names };
}

export async function isAncestor(git: RepositoryGit, older: string, newer: string): Promise<boolean> {
  return (await git.output(['merge-base', '--is-ancestor', older, newer], { okCodes: [0, 1] })).code === 0;
}

/** Throws for files that need a filter, such as git-lfs: writing or committing them without it would be wrong. */
async function requireNoFilters(git: RepositoryGit, from: string, to: string, branch: string): Promise<void> {
  if (git.settings.filters.length === 0) return;
  const names = await git.fields([...BETWEEN, '--name-only', from, to]);
  const filtered = await git.filtered(names);
  if (filtered.length > 0)
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

/** Some of the file names from git, for a sentence. */
export function someFiles(names: readonly Buffer[]): string {
  return someNames(names.map((name) => shownBytes(name).text));
}
