import { join } from 'node:path';
import { isFile } from '../diff/files-patch.js';
import { readDiff } from '../diff/read-diff.js';
import { readLog } from '../log.js';
import { emptyTree } from '../revision.js';
import type { RepositoryGit } from '../run/repository-git.js';
import { stampOf } from './project-state.js';
import type { ChangedFile, DirtyFile, NewCommit, ProjectChanges, ProjectState } from './snapshot-schema.js';

const MAX_COMMITS = 100;
const MAX_FILES = 1_000;

/** Where the changes end: in the files on the disk, as `now` has them, or in the tree of a worktree. */
export interface ChangesEnd {
  readonly now: ProjectState;
  readonly within: string | undefined;
  readonly tree?: string | undefined;
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
  const changed = listed.filter(({ change }) => change === 'changed').map(({ path }) => path);
  return {
    branch: now.branch,
    head: now.head,
    ...commits,
    files: listed,
    files_total: files.length,
    filtered: await git.filtered(changed),
    insertions: files.reduce((sum, { insertions = 0 }) => sum + insertions, 0),
    deletions: files.reduce((sum, { deletions = 0 }) => sum + deletions, 0),
    dirty_before: { ...dirty, count: before?.dirty_count ?? 0 },
    uncommitted: now.dirty_count,
    ...(tree !== undefined && { tree }),
  };
}

async function compare(
  known: readonly DirtyFile[],
  changed: ReadonlyMap<string, ChangedFile>,
  { now, tree }: ChangesEnd,
): Promise<Pick<Compared, 'files'> & Omit<Compared['dirty_before'], 'count'>> {
  const wasDirty = new Set(known.map(({ path }) => path));
  const dirtyNow = new Map(now.dirty.map((file) => [file.path, file]));
  const inFolder = (path: string): string => join(now.repository, path);
  const files: ChangedFile[] = [];
  for (const file of changed.values()) {
    const { path, change } = file;
    if (wasDirty.has(path)) continue;
    // One that was only taken out of the index is still there.
    const isThere = change === 'deleted' && tree === undefined && (await isFile(inFolder(path)));
    files.push(isThere ? { path, change: 'changed' } : file);
  }
  // What differs from HEAD or in the index alone is no less there; a tree has all that there is.
  for (const { path, untracked } of tree === undefined ? now.dirty : []) {
    if (!wasDirty.has(path) && !changed.has(path))
      files.push({ path, change: untracked ? 'created' : 'changed' });
  }
  const is = { untouched: new Array<string>(), changed: new Array<string>(), committed: new Array<string>() };
  for (const { path, stamp } of known) {
    const later = dirtyNow.get(path)?.stamp ?? (await stampOf(inFolder(path)));
    if (later === stamp) is[dirtyNow.has(path) ? 'untouched' : 'committed'].push(path);
    else {
      is.changed.push(path);
      const change = later === 'missing' ? 'deleted' : stamp === 'missing' ? 'created' : 'changed';
      files.push({ path, change, dirty_before: true });
    }
  }
  files.sort((one, other) => (one.path < other.path ? -1 : 1));
  return { files, ...is };
}

/** The files that differ between a commit and the end, with their lines. */
async function readFiles(
  git: RepositoryGit,
  base: string,
  { within, tree }: ChangesEnd,
): Promise<ReadonlyMap<string, ChangedFile>> {
  const commits = ['--no-renames', base, ...(tree === undefined ? [] : [tree])];
  const { files } = await readDiff(git, { command: ['diff'], commits, within });
  const found = new Map<string, ChangedFile>();
  for (const { file: path, letter, insertions, deletions, binary, escaped: _, ...modes } of files.values()) {
    const change = letter === 'A' ? 'created' : letter === 'D' ? 'deleted' : 'changed';
    found.set(path, { path, change, ...modes, ...(binary !== true && { insertions, deletions }) });
  }
  return found;
}

/** What HEAD has, and neither HEAD nor a branch had before: whoever committed it, and whatever its dates say. */
async function readCommits(
  git: RepositoryGit,
  before: ProjectState | undefined,
  now: ProjectState,
): Promise<Pick<ProjectChanges, 'commits' | 'commits_total'>> {
  const commits: NewCommit[] = [];
  let total = 0;
  if (now.head === null) return { commits, commits_total: total };
  const known = new Set([...(before?.head ? [before.head] : []), ...(before?.tips ?? [])]);
  await readLog(git, '%cI', [now.head, ...[...known].map((commit) => `^${commit}`), '--'], (commit) => {
    if (total++ < MAX_COMMITS) commits.push(commit);
  });
  return { commits, commits_total: total };
}
