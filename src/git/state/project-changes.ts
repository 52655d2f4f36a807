import { join } from 'node:path';
import { isFile } from '../diff/files-patch.js';
import { readDiff } from '../diff/read-diff.js';
import { readLog } from '../log.js';
import { emptyTree } from '../revision.js';
import type { RepositoryGit } from '../run/repository-git.js';
import { stampOf } from './project-state.js';
import type { ChangedFile, ProjectChanges, ProjectState } from './snapshot-schema.js';

const MAX_COMMITS = 100;
const MAX_FILES = 1_000;

/** Where the changes end: in the files on the disk, as `now` has them, or in the tree of a worktree. */
export interface ChangesEnd {
  readonly now: ProjectState;
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
  const is = { untouched: new Array<string>(), changed: new Array<string>(), committed: new Array<string>() };
  // Of a new repository the files may have existed before.
  const files = before === undefined ? [] : await readFiles(git, before, end);
  for (const { path, stamp } of before?.dirty ?? []) {
    const isDirty = now.dirty.find((file) => file.path === path);
    const later = isDirty?.stamp ?? (await stampOf(join(now.repository, path)));
    if (later === stamp) is[isDirty === undefined ? 'committed' : 'untouched'].push(path);
    else {
      is.changed.push(path);
      const change = later === 'missing' ? 'deleted' : stamp === 'missing' ? 'created' : 'changed';
      files.push({ path, change, dirty_before: true });
    }
  }
  files.sort((one, other) => (one.path < other.path ? -1 : 1));
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
    dirty_before: { count: before?.dirty_count ?? 0, ...is },
    uncommitted: now.dirty_count,
    ...(tree !== undefined && { tree }),
  };
}

/** The files that differ between the first commit and the end, with their lines, but for those that were uncommitted before. */
async function readFiles(
  git: RepositoryGit,
  before: ProjectState,
  { now, tree }: ChangesEnd,
): Promise<ChangedFile[]> {
  const base = before.head ?? emptyTree(git);
  const commits = ['--no-renames', base, ...(tree === undefined ? [] : [tree])];
  const diff = await readDiff(git, { command: ['diff'], commits });
  const known = new Set(before.dirty.map(({ path }) => path));
  const found = new Map<string, ChangedFile>();
  for (const {
    file: path,
    letter,
    insertions,
    deletions,
    binary,
    escaped: _,
    ...modes
  } of diff.files.values()) {
    const change = letter === 'A' ? 'created' : letter === 'D' ? 'deleted' : 'changed';
    // One that was only taken out of the index is still there.
    const isThere = change === 'deleted' && tree === undefined && (await isFile(join(now.repository, path)));
    const lines = binary === true ? {} : { insertions, deletions };
    found.set(path, isThere ? { path, change: 'changed' } : { path, change, ...modes, ...lines });
  }
  // What differs from HEAD or in the index alone is no less there; a tree has all that there is.
  for (const { path, untracked } of tree === undefined ? now.dirty : [])
    if (!found.has(path)) found.set(path, { path, change: untracked ? 'created' : 'changed' });
  return [...found.values()].filter(({ path }) => !known.has(path));
}

/** What HEAD has, and neither HEAD nor a branch had before: whoever committed it, and whatever its dates say. */
async function readCommits(
  git: RepositoryGit,
  before: ProjectState | undefined,
  now: ProjectState,
): Promise<Pick<ProjectChanges, 'commits' | 'commits_total'>> {
  if (now.head === null) return { commits: [], commits_total: 0 };
  const known = new Set([before?.head ?? [], Object.values(before?.branches ?? {})].flat());
  // A branch may be gone, with its commits.
  const range = ['--ignore-missing', now.head, ...[...known].map((commit) => `^${commit}`), '--'];
  const commits = await readLog(git, '%cI', range);
  return { commits: commits.slice(0, MAX_COMMITS), commits_total: commits.length };
}
