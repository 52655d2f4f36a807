import { z } from 'zod';
import { cursorText, readCursor } from '../base/input.js';
import type { Changes, Patch } from './diff/patch.js';
import { pathArguments, readDiffStat, readPatch, type DiffStat } from './diff/read-diff.js';
import { shownBytes } from './diff/shown-bytes.js';
import { commitIfAny, commitOf, historyOf } from './revision.js';
import type { RepositoryGit } from './run/repository-git.js';

/** Bounds a subject: it should be one line, but may be any text. */
const MAX_SUBJECT_CHARS = 300;
/** Far longer than any message that a person writes. */
const MAX_MESSAGE_CHARS = 8_000;
/** The list of files may take a part of a page; most of it is for the patch. */
export const SHOWN_FILES_BYTES = 8_192;
const FIELDS_PER_COMMIT = 4;
const LOG = [
  'log',
  '--no-show-signature',
  '--no-mailmap',
  '--no-notes',
  '--no-decorate',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--no-patch',
];

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
  from: z
    .array(z.string().regex(/^\^?[0-9a-f]{40,64}$/))
    .max(2)
    .readonly(),
  skip: z.int().min(0),
});

/** Commits from newest to oldest, at most `maxCount`. A cursor stores the starting commits, so new commits do not shift pages. */
export async function readHistory(
  git: RepositoryGit,
  query: HistoryQuery,
  within: string | undefined,
): Promise<History> {
  const start = async (): Promise<z.infer<typeof positionSchema>> => {
    if (query.revision !== undefined) return { from: await historyOf(git, query.revision), skip: 0 };
    const head = await commitIfAny(git, 'HEAD');
    return { from: head === undefined ? [] : [head], skip: 0 };
  };
  const { from, skip } =
    query.cursor === undefined ? await start() : readCursor(positionSchema, query.cursor);
  const commits: LogEntry[] = [];
  if (from.length > 0) {
    // One more than requested, to know whether there are more.
    const count = [`--max-count=${query.maxCount + 1}`, `--skip=${skip}`];
    const args = [...count, ...from, ...pathArguments(within)];
    await readLog(git, '%aI', args, (entry) => void commits.push(entry));
  }
  return {
    commits: commits.slice(0, query.maxCount),
    cursorAfter: (count) => (count < commits.length ? cursorText({ from, skip: skip + count }) : undefined),
  };
}

/** Passes on the commits that `git log` lists, with the author's date (%aI) or the committer's (%cI). */
export async function readLog(
  git: RepositoryGit,
  date: '%aI' | '%cI',
  args: readonly string[],
  take: (entry: LogEntry) => void,
): Promise<void> {
  const values: string[] = [];
  await git.eachField([...LOG, '-z', `--format=tformat:%H%x00%an%x00${date}%x00%s`, ...args], (field) => {
    values.push(shownBytes(field).text);
    if (values.length < FIELDS_PER_COMMIT) return;
    const [commit = '', author = '', day = '', subject = ''] = values.splice(0);
    take({ commit, author, date: day, subject: subject.slice(0, MAX_SUBJECT_CHARS) });
  });
}

export interface CommitQuery {
  readonly revision: string;
  /** Cursor of a previous page. It contains the commit, so all pages show one commit even if the revision moves. */
  readonly cursor?: string;
  readonly maxBytes?: number;
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

/** A commit with its whole patch, and with facts for the first page. Throws REVISION_NOT_FOUND, INVALID_ARGUMENTS. */
export async function readCommit(
  git: RepositoryGit,
  revision: string,
  isFirstPage: boolean,
  within: string | undefined,
): Promise<{ readonly commit: string; readonly facts: CommitFacts | undefined; readonly patch: Patch }> {
  const commit = await commitOf(git, revision);
  const format = '--format=tformat:%P%x00%an <%ae>%x00%aI%x00%B';
  const { bytes } = await git.output([...LOG, '--max-count=1', format, commit, '--']);
  const [parents = '', author = '', date = '', message = ''] = shownBytes(bytes).text.split('\0');
  const header = {
    parents: parents.split(' ').filter((parent) => parent !== ''),
    author,
    date,
    message: message.trimEnd().slice(0, MAX_MESSAGE_CHARS),
  };
  const commits = [...header.parents.slice(0, 1), commit];
  const query = { command: ['diff-tree', '-r', '--no-commit-id', '--root'], commits, within };
  const [stat, patch] = await Promise.all([
    isFirstPage ? readDiffStat(git, query) : undefined,
    readPatch(git, query),
  ]);
  return { commit, facts: stat && { ...header, stat }, patch };
}

/** What the facts of a commit take of a page. */
export function factBytes({ message, stat }: CommitFacts): number {
  const files = Buffer.byteLength(JSON.stringify(stat.files));
  return Buffer.byteLength(message) + Math.min(SHOWN_FILES_BYTES, files);
}
