import { z } from 'zod';
import { cursorText, readCursor } from '../base/input.js';
import { shownBytes } from './diff/patch-text.js';
import { readDiffStat, readPatch, type DiffStat } from './diff/read-diff.js';
import { commitIfAny, commitOf, historyOf } from './revision.js';
import type { RepositoryGit } from './run/repository-git.js';

/** Bounds a subject: it should be one line, but may be any text. */
const MAX_SUBJECT_CHARS = 300;
/** Far longer than any message that a person writes. */
const MAX_MESSAGE_CHARS = 8_000;
/** The list of files may take a part of a page; most of it is for the patch. */
export const SHOWN_FILES_BYTES = 8_192;
const LOG = [
  ...'log --no-show-signature --no-mailmap --no-notes --no-decorate --no-color'.split(' '),
  ...'--no-ext-diff --no-textconv --no-patch'.split(' '),
];

export interface HistoryQuery {
  readonly maxCount: number;
  /** One revision, or `a..b`; default: HEAD. */
  readonly revision?: string | undefined;
  readonly cursor?: string | undefined;
}

export interface LogEntry {
  readonly commit: string;
  readonly author: string;
  /** ISO 8601, with a time zone. */
  readonly date: string;
  readonly subject: string;
}

/** The commits, with `^` those at which the history ends, and how many were on earlier pages: new commits do not shift pages. */
const positionSchema = z.strictObject({
  from: z
    .array(z.string().regex(/^\^?[0-9a-f]{40,64}$/))
    .max(2)
    .readonly(),
  skip: z.int().min(0),
});

/** Commits from newest to oldest, at most `maxCount`. */
export async function readHistory(git: RepositoryGit, { cursor, revision, maxCount }: HistoryQuery) {
  const start = async (): Promise<readonly string[]> => {
    if (revision !== undefined) return historyOf(git, revision);
    const head = await commitIfAny(git, 'HEAD');
    return head === undefined ? [] : [head];
  };
  const { from, skip } =
    cursor === undefined ? { from: await start(), skip: 0 } : readCursor(positionSchema, cursor);
  // One more than requested, to know whether there are more.
  const count = [`--max-count=${maxCount + 1}`, `--skip=${skip}`];
  const commits = from.length === 0 ? [] : await readLog(git, '%aI', [...count, ...from, ...git.paths]);
  return {
    commits: commits.slice(0, maxCount),
    /** Cursor for the commits after the first `count` of `commits`; undefined when there are no more. */
    cursorAfter: (count: number): string | undefined =>
      count < commits.length ? cursorText({ from, skip: skip + count }) : undefined,
  };
}

/** The commits that `git log` lists, with the author's date (%aI) or the committer's (%cI). */
export async function readLog(
  git: RepositoryGit,
  date: '%aI' | '%cI',
  args: readonly string[],
): Promise<readonly LogEntry[]> {
  const format = `--format=tformat:%H%x00%an%x00${date}%x00%s`;
  const values = (await git.fields([...LOG, '-z', format, ...args])).map((field) => shownBytes(field).text);
  return Array.from({ length: values.length / 4 }, (_, nth) => {
    const [commit = '', author = '', day = '', subject = ''] = values.slice(4 * nth, 4 * nth + 4);
    return { commit, author, date: day, subject: subject.slice(0, MAX_SUBJECT_CHARS) };
  });
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

/**
 * A commit with its whole patch against the first parent, or against nothing; with facts for the first page. Throws
 * REVISION_NOT_FOUND, INVALID_ARGUMENTS.
 */
export async function readCommit(git: RepositoryGit, revision: string, isFirstPage: boolean) {
  const commit = await commitOf(git, revision);
  const format = '--format=tformat:%P%x00%an <%ae>%x00%aI%x00%B';
  const { bytes } = await git.output([...LOG, '--max-count=1', format, commit, '--']);
  const [names = '', author = '', date = '', body = ''] = shownBytes(bytes).text.split('\0');
  const parents = names.split(' ').filter((parent) => parent !== '');
  const message = body.trimEnd().slice(0, MAX_MESSAGE_CHARS);
  const commits = [...parents.slice(0, 1), commit];
  const query = { command: ['diff-tree', '-r', '--no-commit-id', '--root'], commits };
  const [stat, patch] = await Promise.all([
    isFirstPage ? readDiffStat(git, query) : undefined,
    readPatch(git, query),
  ]);
  const facts: CommitFacts | undefined = stat && { parents, author, date, message, stat };
  return { commit, facts, patch };
}

/** What the facts of a commit take of a page. */
export function factBytes({ message, stat }: CommitFacts): number {
  const files = Buffer.byteLength(JSON.stringify(stat.files));
  return Buffer.byteLength(message) + Math.min(SHOWN_FILES_BYTES, files);
}
