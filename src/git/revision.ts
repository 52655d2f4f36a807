import { BridgeError } from '../base/errors.js';
import { oneLine } from '../base/text/text.js';
import type { ChangingGit } from './worktree/changing-git.js';
import type { RepositoryGit } from './run/repository-git.js';

const MAX_REVISION_CHARS = 250;
const SHOWN_CHARS = 100;
/** Not an option, not a file of a commit, not a search, no pattern, no white space. */
const REVISION = /^(?!-)[^\s\p{C}:?*[\\]+$/u;

/** The commit that a revision names. Throws INVALID_ARGUMENTS for what is none by its form, REVISION_NOT_FOUND. */
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

/** What `git log` takes for one revision or for `a..b`. Throws as `commitOf`. */
export async function historyOf(git: RepositoryGit, revision: string): Promise<readonly string[]> {
  const range = /^(.+?)\.\.(?!\.)(.+)$/.exec(revision);
  if (range === null) return [await commitOf(git, revision)];
  const [, from = '', to = ''] = range;
  return [await commitOf(git, to), `^${await commitOf(git, from)}`];
}

/** undefined when there is none, as before the first commit. */
export async function commitIfAny(git: RepositoryGit, revision: string): Promise<string | undefined> {
  const { code, bytes } = await git.output(
    ['rev-parse', '--verify', '--quiet', `${revision}^{commit}`],
    [0, 1, 128],
  );
  const sha = bytes.toString('latin1').trim();
  return code === 0 && /^[0-9a-f]{40,64}$/.test(sha) ? sha : undefined;
}

/** As `commitIfAny`, for what changes a repository. */
export async function commitIn(git: ChangingGit, revision: string): Promise<string | undefined> {
  const { code, text } = await git.output(['rev-parse', '--verify', '--quiet', `${revision}^{commit}`], {
    answers: [0, 1, 128],
  });
  return code === 0 ? text.trim() : undefined;
}

function checkRevision(revision: string, isRange: boolean): void {
  if (!isRange && revision.length <= MAX_REVISION_CHARS && REVISION.test(revision)) return;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `'${oneLine(revision, SHOWN_CHARS)}' is not a revision.`,
    'Give the name of a branch or tag, a commit, or one of these with ~ or ^, such as HEAD~2.',
  );
}
