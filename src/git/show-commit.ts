import { z } from 'zod';
import { positionSchema, readPatch, START } from './changes.js';
import { cursorText, readCursor } from '../base/cursor.js';
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
  /** Where a page before ended. It names the commit too, so that the pages are of one commit, wherever the revision leads by now. */
  readonly cursor?: string;
  readonly maxBytes?: number;
}

/** What is told of a commit but its patch. */
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
  /** The changes against the first parent, or against nothing. */
  readonly patch: Omit<PatchPart, 'next'>;
  readonly cursor: string | undefined;
}

const commitPositionSchema = positionSchema.extend({ commit: z.string().regex(/^[0-9a-f]{40,64}$/) });
const COMPARE: readonly string[] = ['diff-tree', '-r', '--no-commit-id', '--root'];

/** Throws REVISION_NOT_FOUND, and INVALID_ARGUMENTS for what is no revision, or a cursor that is of none. */
export async function readCommit(
  git: RepositoryGit,
  query: CommitQuery & { readonly maxBytes: number },
  within: string | undefined,
): Promise<Commit> {
  const from = query.cursor === undefined ? undefined : readCursor(commitPositionSchema, query.cursor);
  const commit = await commitOf(git, from?.commit ?? query.revision);
  const header = await headerOf(git, commit);
  const [first] = header.parents;
  const commits = first === undefined ? [commit] : [first, commit];
  const [stat, { next, ...patch }] = await Promise.all([
    from === undefined ? numstat(git, COMPARE, commits, within) : undefined,
    readPatch(git, COMPARE, commits, within, { from: from ?? START, maxBytes: query.maxBytes }),
  ]);
  return {
    commit,
    facts: stat === undefined ? undefined : { ...header, stat },
    patch,
    cursor: next === undefined ? undefined : cursorText({ ...next, commit }),
  };
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
