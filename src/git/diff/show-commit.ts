import { readPatch, type Changes } from './changes.js';
import { numstat, type DiffStat } from './diff-stat.js';
import { historyOptions } from '../history.js';
import type { Patch } from './patch.js';
import type { RepositoryGit } from '../run/repository-git.js';
import { commitOf } from '../revision.js';
import { shownBytes } from './shown-bytes.js';

/** Far longer than any message that a person writes. */
const MAX_MESSAGE_CHARS = 8_000;
/** The list of files may take a part of a page; most of it is for the patch. */
export const SHOWN_FILES_BYTES = 8_192;

export interface CommitQuery {
  readonly revision: string;
  /** Cursor of a previous page. It contains the commit, so all pages show one commit even if the revision moves. */
  readonly cursor?: string | undefined;
  readonly maxBytes?: number | undefined;
}

/** Data of a commit without its patch. */
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
  /** Set only on the first page. */
  readonly facts: CommitFacts | undefined;
  /** A page of the changes against the first parent, or against nothing. */
  readonly patch: Omit<Changes, 'here' | 'cursor'>;
  /** Cursor of this page itself, to request it again in another size. */
  readonly here: string;
  readonly cursor: string | undefined;
}

const COMPARE: readonly string[] = ['diff-tree', '-r', '--no-commit-id', '--root'];

/** A commit with its whole patch, and with facts for the first page. Throws REVISION_NOT_FOUND, INVALID_ARGUMENTS. */
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

/** What the facts of a commit take of a page. */
export function factBytes({ message, stat }: CommitFacts): number {
  const files = Buffer.byteLength(JSON.stringify(stat.files));
  return Buffer.byteLength(message) + Math.min(SHOWN_FILES_BYTES, files);
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
