import { BridgeError } from '../base/errors.js';
import { oneLine } from '../base/text.js';
import type { RepositoryGit } from './run/repository-git.js';

const MAX_REVISION_CHARS = 250;
const SHOWN_CHARS = 100;
const SHA1_BYTES = 20;
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
const EMPTY_TREE_OF_SHA256 = '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321';
/** Excludes options, files of a commit, searches, patterns and white space. */
const REVISION = /^(?!-)[^\s\p{C}:?*[\\]+$/u;

/** The commit that a revision names. Throws INVALID_ARGUMENTS for an invalid form, and REVISION_NOT_FOUND. */
export async function commitOf(git: RepositoryGit, revision: string): Promise<string> {
  checkRevision(revision, revision.includes('..'));
  const sha = await commitIfAny(git, revision);
  if (sha !== undefined) return sha;
  throw new BridgeError(
    'REVISION_NOT_FOUND',
    `The repository has no commit '${oneLine(revision, SHOWN_CHARS)}'.`,
    'Give a branch, a tag or a commit; git_log lists commits.',
  );
}

/** The arguments of `git log` for one revision or for `a..b`. Throws like `commitOf`. */
export async function historyOf(git: RepositoryGit, revision: string): Promise<readonly string[]> {
  const range = /^(.+?)(?<!\.)\.\.(?!\.)(.+)$/.exec(revision);
  if (range === null) return [await commitOf(git, revision)];
  const [, from = '', to = ''] = range;
  return [await commitOf(git, to), `^${await commitOf(git, from)}`];
}

/** Like `commitOf`, but undefined when there is none, as before the first commit. Throws GIT_FAILED for one that git cannot read. */
export async function commitIfAny(git: RepositoryGit, revision: string): Promise<string | undefined> {
  return objectIfAny(git, `${revision}^{commit}`);
}

/** The tree of a commit, or a tree itself; undefined when there is none. */
export async function treeIfAny(git: RepositoryGit, revision: string): Promise<string | undefined> {
  return objectIfAny(git, `${revision}^{tree}`);
}

async function objectIfAny(git: RepositoryGit, revision: string): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', revision];
  const { code, text } = await git.output(args, { okCodes: [0, 1, 128] });
  if (code === 0 && isObjectName(text.trim())) return text.trim();
  await requireReadable(git, revision.replace(/\^\{\w+\}$/, ''));
  return undefined;
}

/** A branch, a tag or HEAD that has an object which git cannot read is a fault of the repository: git says which, as GIT_FAILED. */
async function requireReadable(git: RepositoryGit, name: string): Promise<void> {
  const args = ['rev-parse', '--verify', '--quiet', '--symbolic-full-name', name];
  const { text } = await git.output(args, { okCodes: [0, 1, 128] });
  if (text.trim() !== '') await git.output(['log', '--max-count=1', '--format=', name, '--']);
  // Before the first commit HEAD names a branch all the same.
  else if (name === 'HEAD') await git.output(['symbolic-ref', '--quiet', 'HEAD']);
}

/** The name of the tree without files, which every git knows; it stands in for the parent of a first commit. */
export function emptyTree({ settings }: RepositoryGit): string {
  return settings.hashBytes === SHA1_BYTES ? EMPTY_TREE : EMPTY_TREE_OF_SHA256;
}

function isObjectName(text: string): boolean {
  return /^[0-9a-f]{40,64}$/.test(text);
}

function checkRevision(revision: string, isRange: boolean): void {
  if (!isRange && revision.length <= MAX_REVISION_CHARS && REVISION.test(revision)) return;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `'${oneLine(revision, SHOWN_CHARS)}' is not a revision.`,
    'Give the name of a branch or tag, a commit, or one of these with ~ or ^, such as HEAD~2; git_log takes a..b, too.',
  );
}
