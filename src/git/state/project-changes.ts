import { join } from 'node:path';
import { diffOptions, pathArguments } from '../diff/diff-options.js';
import { readLog, type LogEntry } from '../history.js';
import { NulFields, unreadable } from '../nul-fields.js';
import { NumstatParser } from '../diff/parse-numstat.js';
import { isCommit, readProjectState, stampOf, type DirtyFile, type ProjectState } from './project-state.js';
import type { RepositoryGit } from '../run/repository-git.js';
import type { RepositoryPath } from '../run/repository.js';
import { shownBytes } from '../diff/shown-bytes.js';

const MAX_COMMITS = 100;
const MAX_FILES = 1_000;
const COLON = ':'.charCodeAt(0);

interface ChangedFile {
  /** Relative to the top of the repository. */
  readonly path: string;
  readonly change: 'created' | 'changed' | 'deleted';
  /** Lines; missing for untracked and binary files, and for files with earlier uncommitted changes. */
  readonly insertions?: number;
  readonly deletions?: number;
  /** Set when the file had uncommitted changes before and was changed further. */
  readonly dirty_before?: true;
}

/** Files that were uncommitted in the first snapshot, by what happened to them. */
interface DirtyBefore {
  readonly count: number;
  /** Still uncommitted and unchanged. */
  readonly untouched: readonly string[];
  readonly changed: readonly string[];
  /** Committed since, without further changes. */
  readonly committed: readonly string[];
}

export interface ProjectChanges {
  readonly branch: string | null;
  readonly head: string | null;
  /** New on any local branch and committed since, newest first; at most 100. */
  readonly commits: readonly LogEntry[];
  readonly commits_total: number;
  /** New on a local branch, but committed before `sinceMs`: fetched or merged. */
  readonly commits_older: number;
  /** Compared with HEAD of the first snapshot; at most 1,000. */
  readonly files: readonly ChangedFile[];
  readonly files_total: number;
  /** Those of `files` that git compares through a filter, which is not run: whether they have changed is not known. */
  readonly filtered: readonly string[];
  readonly insertions: number;
  readonly deletions: number;
  readonly dirty_before: DirtyBefore;
  /** Number of uncommitted files in the second snapshot. */
  readonly uncommitted: number;
}

/** The changes since `before`. Commits older than `sinceMs` are only counted. Throws like the git runner. */
export async function readProjectChanges(
  git: RepositoryGit,
  at: RepositoryPath,
  before: ProjectState,
  sinceMs: number,
): Promise<ProjectChanges> {
  const base = before.head ?? (await emptyTree(git));
  const [now, differences] = await Promise.all([
    readProjectState(git, at),
    readDifferences(git, base, at.within),
  ]);
  const commits = await readCommits(git, before, now, sinceMs);
  const compared = await compare(now, before, differences);
  const files = compared.files.slice(0, MAX_FILES);
  return {
    branch: now.branch,
    head: now.head,
    ...commits,
    files,
    files_total: compared.files.length,
    filtered: await git.filtered(files.filter(({ change }) => change === 'changed').map(({ path }) => path)),
    insertions: sum(compared.files, (file) => file.insertions),
    deletions: sum(compared.files, (file) => file.deletions),
    dirty_before: { ...compared.before, count: before.dirty_count },
    uncommitted: now.dirty_count,
  };
}

/** The commits of a repository that did not exist in the first snapshot. Throws like the git runner. */
export async function readNewRepository(
  git: RepositoryGit,
  at: RepositoryPath,
  sinceMs: number,
): Promise<ProjectChanges> {
  const now = await readProjectState(git, at);
  const nothing = { ...now, head: null, tips: [], dirty: [], dirty_count: 0 };
  return {
    branch: now.branch,
    head: now.head,
    ...(await readCommits(git, nothing, now, sinceMs)),
    files: [],
    files_total: 0,
    filtered: [],
    insertions: 0,
    deletions: 0,
    dirty_before: { count: 0, untouched: [], changed: [], committed: [] },
    uncommitted: now.dirty_count,
  };
}

async function compare(
  now: ProjectState,
  before: ProjectState,
  differences: ReadonlyMap<string, ChangedFile>,
): Promise<{ readonly files: readonly ChangedFile[]; readonly before: Omit<DirtyBefore, 'count'> }> {
  const known = new Map(before.dirty.map((file) => [file.path, file]));
  const dirtyNow = new Map(now.dirty.map((file) => [file.path, file]));
  const files = [...differences.values()].filter(({ path }) => !known.has(path));
  for (const { path, untracked } of now.dirty) {
    if (untracked && !known.has(path) && !differences.has(path)) files.push({ path, change: 'created' });
  }
  const untouched: string[] = [];
  const changed: string[] = [];
  const committed: string[] = [];
  for (const file of before.dirty) {
    const stamp = dirtyNow.get(file.path)?.stamp ?? (await stampOf(join(before.repository, file.path)));
    if (stamp === file.stamp) (dirtyNow.has(file.path) ? untouched : committed).push(file.path);
    else {
      changed.push(file.path);
      files.push({ path: file.path, change: changeOf(file, stamp), dirty_before: true });
    }
  }
  files.sort((one, other) => (one.path < other.path ? -1 : 1));
  return { files, before: { untouched, changed, committed } };
}

function changeOf(before: DirtyFile, stamp: string): ChangedFile['change'] {
  if (stamp === 'missing') return 'deleted';
  return before.stamp === 'missing' ? 'created' : 'changed';
}

/** The files that differ from `base`, with their lines where git counts them. */
async function readDifferences(
  git: RepositoryGit,
  base: string,
  within: string | undefined,
): Promise<ReadonlyMap<string, ChangedFile>> {
  const found = new Map<string, ChangedFile>();
  // `:<modes> <hashes> <letter>` and the name for each file, and after all of these the counts.
  const counts = new NumstatParser(({ file, insertions, deletions, binary }) => {
    const known = found.get(file);
    if (known !== undefined && binary !== true) found.set(file, { ...known, insertions, deletions });
  });
  let letter: string | undefined;
  const fields = new NulFields((field) => {
    if (letter === undefined && field[0] !== COLON) return counts.take(field);
    if (letter === undefined) {
      letter = /^:+(?:[0-9a-f]+ )+([A-Z])\d*$/.exec(field.toString('latin1'))?.[1];
      if (letter === undefined) throw unreadable('a change without a status');
      return;
    }
    const path = shownBytes(field).text;
    found.set(path, { path, change: letter === 'A' ? 'created' : letter === 'D' ? 'deleted' : 'changed' });
    letter = undefined;
  });
  const args = ['diff', ...diffOptions, '--no-renames', '--raw', '--numstat', '-z', base];
  await git.stream([...args, ...pathArguments(within)], (chunk) => fields.push(chunk));
  fields.end();
  return found;
}

async function readCommits(
  git: RepositoryGit,
  before: ProjectState,
  now: ProjectState,
  sinceMs: number,
): Promise<Pick<ProjectChanges, 'commits' | 'commits_total' | 'commits_older'>> {
  // Without the earlier branches, only commits between the two HEADs are known to be new.
  const isWhole = before.head === null || before.tips.length > 0;
  const from = [...new Set([...(now.head === null ? [] : [now.head]), ...(isWhole ? now.tips : [])])];
  if (from.length === 0) return { commits: [], commits_total: 0, commits_older: 0 };
  const not = [...new Set([...(before.head === null ? [] : [before.head]), ...before.tips])];
  const commits: LogEntry[] = [];
  let total = 0;
  let older = 0;
  const range = [...from, ...not.map((commit) => `^${commit}`), '--'];
  await readLog(git, '%cI', range, (entry) => {
    // Commit times are whole seconds.
    if (Date.parse(entry.date) + 1000 <= sinceMs) older++;
    else {
      total++;
      if (commits.length < MAX_COMMITS) commits.push(entry);
    }
  });
  return { commits, commits_total: total, commits_older: older };
}

/** The name of the tree without files, which stands in for the parent of a first commit; it depends on the hash function. */
export async function emptyTree(git: RepositoryGit): Promise<string> {
  const { bytes } = await git.output(['hash-object', '-t', 'tree', '--stdin']);
  const name = bytes.toString('latin1').trim();
  if (!isCommit(name)) throw unreadable('no name of an empty tree');
  return name;
}

function sum(files: readonly ChangedFile[], of: (file: ChangedFile) => number | undefined): number {
  return files.reduce((total, file) => total + (of(file) ?? 0), 0);
}
