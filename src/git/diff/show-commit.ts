import { readPatch, type Changes } from './changes.js';
import { numstat, type DiffStat } from './diff-stat.js';
import { historyOptions } from '../history.js';
import type { Patch } from './patch.js';
import type { RepositoryGit } from '../run/repository-git.js';
import { commitOf } from '../revision.js';
import { shownBytes } from './shown-bytes.js';

/** Far more than any message that a person wrote. */
const MAX_MESSAGE_CHARS = 8_000;

export interface CommitQuery {
  readonly revision: string;
  /** Where a page before ended. It names the commit too, so that the pages are of one commit, wherever the revision leads by now. */
  readonly cursor?: string;
  readonly maxBytes?: number;
}

/** What there is to say of a commit besides its patch. */
export interface CommitFacts {
  readonly parents: readonly string[];
  readonly author: string;
  /** ISO 8601, with the author's time zone. */
  readonly date: string;
  readonly message: string;
  readonly stat: DiffStat;
}

export interface Commit {
  readonly commit: string;
  /** undefined on every page but the first. */
  readonly facts: CommitFacts | undefined;
  /** A page of the changes against the first parent, or against nothing. */
  readonly patch: Omit<Changes, 'here' | 'cursor'>;
  /** Of this page itself: with it the page can be had again in another size. */
  readonly here: string;
  readonly cursor: string | undefined;
}

const COMPARE: readonly string[] = ['diff-tree', '-r', '--no-commit-id', '--root'];

/** A commit with its whole patch; without facts where only a further page is wanted. Throws REVISION_NOT_FOUND, INVALID_ARGUMENTS. */
export async function readCommit(
  git: RepositoryGit,
  revision: string,
  isFirstPage: boolean,
  within: string | undefined,
): Promise<{ readonly commit: string; readonly facts: CommitFacts | undefined; readonly patch: Patch }> {
  const commit = await commitOf(git, revision);
  const header = await headerOf(git, commit);
  const [first] = header.parents;
  const commits = first === undefined ? [commit] : [first, commit];
  const [stat, patch] = await Promise.all([
    isFirstPage ? numstat(git, COMPARE, commits, within) : undefined,
    readPatch(git, COMPARE, commits, within),
  ]);
  return { commit, facts: stat === undefined ? undefined : { ...header, stat }, patch };
}

async function headerOf(git: RepositoryGit, commit: string): Promise<Omit<CommitFacts, 'stat'>> {
  const { bytes } = await git.output([
    'log',
    ...historyOptions,
    '--no-patch',
    '--max-count=1',
    '--format=tformat:%P%x00%an <%ae>%x00%aI%x00%B',
    commit,
    '--',
  ]);
  const [parents = '', author = '', date = '', message = ''] = shownBytes(bytes).text.split('\0');
  return {
    parents: parents.split(' ').filter((parent) => parent !== ''),
    author,
    date,
    message: message.trimEnd().slice(0, MAX_MESSAGE_CHARS),
  };
}
