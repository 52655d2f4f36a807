import { readPatch } from './changes.js';
import { numstat, type DiffStat } from './diff-stat.js';
import { historyOptions } from './history.js';
import type { PatchPart } from './patch-page.js';
import type { RepositoryGit } from './repository-git.js';
import { commitOf } from './revision.js';
import { shownBytes } from './shown-bytes.js';

/** Far more than any message that a person wrote. */
const MAX_MESSAGE_CHARS = 8_000;

export interface CommitQuery {
  readonly revision: string;
  readonly maxBytes?: number;
}

export interface Commit {
  readonly commit: string;
  readonly parents: readonly string[];
  readonly author: string;
  /** ISO 8601, with the author's time zone. */
  readonly date: string;
  readonly message: string;
  readonly stat: DiffStat;
  /** The changes against the first parent, or against nothing. */
  readonly patch: PatchPart;
}

export async function readCommit(
  git: RepositoryGit,
  query: CommitQuery & { readonly maxBytes: number },
  within: string | undefined,
): Promise<Commit> {
  const commit = await commitOf(git, query.revision);
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
  const parentList = parents.split(' ').filter((parent) => parent !== '');
  const command = ['diff-tree', '-r', '--no-commit-id', '--root'];
  const [first] = parentList;
  const commits = first === undefined ? [commit] : [first, commit];
  const stat = await numstat(git, command, commits, within);
  const start = { offset: 0, mark: '' };
  const patch = await readPatch(git, command, commits, within, { from: start, maxBytes: query.maxBytes });
  return {
    commit,
    parents: parentList,
    author,
    date,
    message: message.trimEnd().slice(0, MAX_MESSAGE_CHARS),
    stat,
    patch,
  };
}
