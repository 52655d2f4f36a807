import { join } from 'node:path';
import { someNames } from '../../base/text.js';
import { isFile } from '../diff/files-patch.js';
import { readDiff } from '../diff/read-diff.js';
import { readLog } from '../history.js';
import { emptyTree } from '../revision.js';
import type { RepositoryGit } from '../run/repository-git.js';
import { newDisguises } from './disguises.js';
import { stampOf } from './project-state.js';
import type { ChangedFile, DirtyFile, NewCommit, ProjectChanges, ProjectState } from './snapshot-schema.js';

const MAX_COMMITS = 100;
const MAX_FILES = 1_000;

/** Where the changes end: in the files on the disk, as `now` has them, or in the tree of a worktree. */
export interface ChangesEnd {
  readonly now: ProjectState;
  readonly within: string | undefined;
  readonly tree?: string;
}

type Compared = Omit<ProjectChanges, 'ignored' | 'doubts'>;

/** The changes since `before`, or since a first snapshot that found no repository. Throws like the git runner. */
export async function readProjectChanges(
  git: RepositoryGit,
  before: ProjectState | undefined,
  end: ChangesEnd,
): Promise<Compared> {
  const { now, tree } = end;
  const commits = await readCommits(git, before, now);
  // Of a new repository the files may have existed before.
  const { files, ...dirty } =
    before === undefined
      ? { files: [], untouched: [], changed: [], committed: [] }
      : await compare(before.dirty, await readFiles(git, before.head ?? (await emptyTree(git)), end), end);
  const listed = files.slice(0, MAX_FILES);
  return {
    branch: now.branch,
    head: now.head,
    ...commits,
    files: listed,
    files_total: files.length,
    filtered: await git.filtered(listed.filter(({ change }) => change === 'changed').map(({ path }) => path)),
    insertions: sum(files, (file) => file.insertions),
    deletions: sum(files, (file) => file.deletions),
    dirty_before: { ...dirty, count: before?.dirty_count ?? 0 },
    uncommitted: now.dirty_count,
    ...(tree !== undefined && { tree }),
  };
}

/** What makes git show a repository otherwise than before, in words. */
export function doubtsOf(before: ProjectState, now: ProjectState): string[] {
  const fresh = newDisguises(now.disguises, before.disguises);
  const [then, views = {}] = [before.views ?? now.views ?? {}, now.views];
  const names = [...new Set([...Object.keys(then), ...Object.keys(views)])].filter(
    (name) => then[name] !== views[name],
  );
  return [
    ...(fresh === undefined
      ? []
      : [
          `The git of a person shows other commits or files than the repository holds, by what is new: ${fresh}.`,
        ]),
    ...(names.length === 0 ? [] : [`What git shows as changed depends on what is new: ${someNames(names)}.`]),
  ];
}

async function compare(
  known: readonly DirtyFile[],
  changed: ReadonlyMap<string, ChangedFile>,
  { now, tree }: ChangesEnd,
): Promise<Pick<Compared, 'files'> & Omit<Compared['dirty_before'], 'count'>> {
  const wasDirty = new Set(known.map(({ path }) => path));
  const dirtyNow = new Map(now.dirty.map((file) => [file.path, file]));
  const files: ChangedFile[] = [];
  for (const [path, file] of changed) {
    if (wasDirty.has(path)) continue;
    // One that was only taken out of the index is still there.
    const isThere =
      file.change === 'deleted' && tree === undefined && (await isFile(join(now.repository, path)));
    files.push(isThere ? { path, change: 'changed' } : file);
  }
  // What differs from HEAD or in the index alone is no less there; a tree has all that there is.
  for (const { path, untracked } of tree === undefined ? now.dirty : []) {
    if (!wasDirty.has(path) && !changed.has(path))
      files.push({ path, change: untracked ? 'created' : 'changed' });
  }
  const is: Record<'untouched' | 'changed' | 'committed', string[]> = {
    untouched: [],
    changed: [],
    committed: [],
  };
  for (const file of known) {
    const stamp = dirtyNow.get(file.path)?.stamp ?? (await stampOf(join(now.repository, file.path)));
    if (stamp === file.stamp) is[dirtyNow.has(file.path) ? 'untouched' : 'committed'].push(file.path);
    else {
      is.changed.push(file.path);
      files.push({ path: file.path, change: changeOf(file, stamp), dirty_before: true });
    }
  }
  files.sort((one, other) => (one.path < other.path ? -1 : 1));
  return { files, ...is };
}

function changeOf(before: DirtyFile, stamp: string): ChangedFile['change'] {
  if (stamp === 'missing') return 'deleted';
  return before.stamp === 'missing' ? 'created' : 'changed';
}

/** The files that differ between a commit and the end, with their lines. */
async function readFiles(
  git: RepositoryGit,
  base: string,
  { within, tree }: ChangesEnd,
): Promise<ReadonlyMap<string, ChangedFile>> {
  const found = new Map<string, ChangedFile>();
  const ends = ['--no-renames', base, ...(tree === undefined ? [] : [tree])];
  const { links } = await readDiff(git, ['diff'], ends, within, {
    raw: (path, letter, modes) => {
      const change = letter === 'A' ? 'created' : letter === 'D' ? 'deleted' : 'changed';
      found.set(path, { path, change, ...modes });
    },
    stat: ({ file: path, binary, insertions, deletions }) => {
      const file = found.get(path) ?? { path, change: 'changed' };
      found.set(path, { ...file, ...(binary !== true && { insertions, deletions }) });
    },
  });
  for (const [path, file] of found) found.set(path, { ...file, ...links.get(path) });
  return found;
}

/** What HEAD has, and neither HEAD nor a branch had before: whoever committed it, and whatever its dates say. */
async function readCommits(
  git: RepositoryGit,
  before: ProjectState | undefined,
  now: ProjectState,
): Promise<Pick<ProjectChanges, 'commits' | 'commits_total'>> {
  if (now.head === null) return { commits: [], commits_total: 0 };
  const not = [...new Set([...(before?.head ? [before.head] : []), ...(before?.tips ?? [])])];
  const commits: NewCommit[] = [];
  let total = 0;
  await readLog(git, '%cI', [now.head, ...not.map((commit) => `^${commit}`), '--'], (commit) => {
    total++;
    if (commits.length < MAX_COMMITS) commits.push(commit);
  });
  return { commits, commits_total: total };
}

function sum(files: readonly ChangedFile[], of: (file: ChangedFile) => number | undefined): number {
  return files.reduce((total, file) => total + (of(file) ?? 0), 0);
}
