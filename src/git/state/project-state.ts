import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '../../base/errors.js';
import { pathArguments } from '../diff/diff-options.js';
import { NulFields } from '../nul-fields.js';
import { StatusParser } from '../parse-status.js';
import type { RepositoryGit } from '../run/repository-git.js';
import type { RepositoryPath } from '../run/repository.js';

/** Uncommitted files that are stored; the rest is only counted. */
const MAX_DIRTY = 2_000;
/** Branch tips that are stored; with more branches, only HEAD counts. */
const MAX_TIPS = 1_000;
/** Concurrent `lstat` calls. */
const STATS_AT_ONCE = 32;

/** An uncommitted file, with a stamp that shows later whether it changed. */
export interface DirtyFile {
  /** Relative to the top of the repository. */
  readonly path: string;
  readonly untracked: boolean;
  /** Size, time, inode and mode; `missing` when the file does not exist. */
  readonly stamp: string;
}

/** A snapshot of a repository, or of the part of it that is the project. */
export interface ProjectState {
  /** Top folder of the repository. */
  readonly repository: string;
  readonly branch: string | null;
  /** null before the first commit. */
  readonly head: string | null;
  /** Commits of the branch tips; empty when there are too many branches. */
  readonly tips: readonly string[];
  /** At most 2,000; `dirty_count` counts all. */
  readonly dirty: readonly DirtyFile[];
  readonly dirty_count: number;
}

/** Takes a snapshot, listing untracked files one by one, since an untracked folder may get new files. Throws like the runner. */
export async function readProjectState(git: RepositoryGit, at: RepositoryPath): Promise<ProjectState> {
  const paths = new Map<string, boolean>();
  const all = new Set<string>();
  const parser = new StatusParser({
    file: (list, path) => {
      all.add(path);
      if (paths.has(path) || paths.size < MAX_DIRTY) paths.set(path, list === 'untracked');
    },
    renamed: ({ from, to }) => {
      for (const path of [from, to]) {
        all.add(path);
        if (!paths.has(path) && paths.size < MAX_DIRTY) paths.set(path, false);
      }
    },
    // A file with an escaped name is not found under that name, so it counts as missing in both snapshots.
    escaped: () => undefined,
  });
  const fields = new NulFields((field) => parser.take(field));
  const options = ['status', '--porcelain=v2', '-z', '--branch', '--no-ahead-behind', '--no-renames'];
  const which = ['--untracked-files=all', '--ignored=no', '--ignore-submodules=dirty'];
  const [tips] = await Promise.all([
    readTips(git),
    git.stream([...options, ...which, ...pathArguments(at.within)], (chunk) => fields.push(chunk)),
  ]);
  fields.end();
  return {
    repository: at.repository.top,
    branch: parser.branch.branch,
    head: parser.branch.head,
    tips,
    dirty: await stamped(at.repository.top, [...paths]),
    dirty_count: all.size,
  };
}

/** A stamp that changes when the file changes. */
export async function stampOf(path: string): Promise<string> {
  try {
    const facts = await lstat(path, { bigint: true });
    return `${facts.size}-${facts.mtimeNs}-${facts.ino}-${facts.mode}`;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    // For a comparison, a missing file and an inaccessible one are the same.
    return 'missing';
  }
}

async function readTips(git: RepositoryGit): Promise<readonly string[]> {
  const args = ['for-each-ref', `--count=${MAX_TIPS + 1}`, '--format=%(objectname)', 'refs/heads'];
  const { bytes } = await git.output(args);
  const tips = bytes.toString('latin1').split('\n').filter(isCommit);
  return tips.length > MAX_TIPS ? [] : [...new Set(tips)];
}

export function isCommit(text: string): boolean {
  return /^[0-9a-f]{40,64}$/.test(text);
}

async function stamped(
  top: string,
  paths: readonly (readonly [path: string, untracked: boolean])[],
): Promise<DirtyFile[]> {
  const files: DirtyFile[] = [];
  for (let from = 0; from < paths.length; from += STATS_AT_ONCE) {
    const some = paths.slice(from, from + STATS_AT_ONCE).map(async ([path, untracked]) => ({
      path,
      untracked,
      stamp: await stampOf(join(top, path)),
    }));
    files.push(...(await Promise.all(some)));
  }
  return files;
}
