import { z } from 'zod';
import { cursorText, readCursor } from '../base/input.js';
import { pathArguments } from './diff/diff-options.js';
import { NulFields } from './nul-fields.js';
import type { RepositoryGit } from './run/repository-git.js';
import { commitIfAny, historyOf } from './revision.js';
import { shownBytes } from './diff/shown-bytes.js';

/** Bounds a subject: it should be one line, but may be any text. */
const MAX_SUBJECT_CHARS = 300;

export interface HistoryQuery {
  readonly maxCount: number;
  /** One revision, or `a..b`; default: HEAD. */
  readonly revision?: string;
  readonly cursor?: string;
}

export interface LogEntry {
  readonly commit: string;
  readonly author: string;
  /** ISO 8601, with a time zone. */
  readonly date: string;
  readonly subject: string;
}

export interface History {
  readonly commits: readonly LogEntry[];
  /** Cursor for the commits after the first `count` of `commits`; undefined when there are no more. */
  cursorAfter(count: number): string | undefined;
}

const positionSchema = z.strictObject({
  from: z.array(z.string().regex(/^\^?[0-9a-f]{40,64}$/)).max(2),
  skip: z.int().min(0),
});
const FIELDS_PER_COMMIT = 4;

export const historyOptions: readonly string[] = [
  '--no-show-signature',
  '--no-mailmap',
  '--no-notes',
  '--no-decorate',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
];

/** Commits from newest to oldest, at most `maxCount`. A cursor stores the starting commits, so new commits do not shift pages. */
export async function readHistory(
  git: RepositoryGit,
  query: HistoryQuery,
  within: string | undefined,
): Promise<History> {
  const position = query.cursor === undefined ? undefined : readCursor(positionSchema, query.cursor);
  const from = position?.from ?? (await startOf(git, query.revision));
  const skip = position?.skip ?? 0;
  const commits: LogEntry[] = [];
  if (from.length > 0) {
    // One more than requested, to know whether there are more.
    const count = [`--max-count=${query.maxCount + 1}`, `--skip=${skip}`];
    const args = [...count, ...from, ...pathArguments(within)];
    await readLog(git, '%aI', args, (entry) => void commits.push(entry));
  }
  const found = commits.length;
  return {
    commits: commits.slice(0, query.maxCount),
    cursorAfter: (count) => (count < found ? cursorText({ from, skip: skip + count }) : undefined),
  };
}

/** Passes on the commits that `git log` lists, with the author's date (%aI) or the committer's (%cI). */
export async function readLog(
  git: RepositoryGit,
  date: '%aI' | '%cI',
  args: readonly string[],
  take: (entry: LogEntry) => void,
): Promise<void> {
  let values: string[] = [];
  const fields = new NulFields((field) => {
    values.push(shownBytes(field).text);
    if (values.length < FIELDS_PER_COMMIT) return;
    const [commit = '', author = '', day = '', subject = ''] = values;
    take({ commit, author, date: day, subject: subject.slice(0, MAX_SUBJECT_CHARS) });
    values = [];
  });
  const options = [
    'log',
    ...historyOptions,
    '--no-patch',
    '-z',
    `--format=tformat:%H%x00%an%x00${date}%x00%s`,
  ];
  await git.stream([...options, ...args], (chunk) => fields.push(chunk));
  fields.end();
}

/** The commits to start from; empty before the first commit. */
async function startOf(git: RepositoryGit, revision: string | undefined): Promise<readonly string[]> {
  if (revision !== undefined) return historyOf(git, revision);
  const head = await commitIfAny(git, 'HEAD');
  return head === undefined ? [] : [head];
}
