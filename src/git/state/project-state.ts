import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '../../base/errors.js';
import { pathArguments } from '../diff/diff-options.js';
import { NulFields } from '../nul-fields.js';
import { StatusParser } from '../parse-status.js';
import type { RepositoryGit } from '../run/repository-git.js';
import type { RepositoryPath } from '../run/repository.js';

/** More uncommitted files than this are counted and not remembered: nobody reads a list of them. */
const MAX_DIRTY = 2_000;
/** Branches whose tips are remembered; a repository with more is asked for its HEAD alone. */
const MAX_TIPS = 1_000;
/** Files whose facts are asked for at a time. */
const STATS_AT_ONCE = 32;

/** An uncommitted file, and by what a later look sees whether it is still the same one. */
export interface DirtyFile {
  /** Relative to the top of the repository. */
  readonly path: string;
  readonly untracked: boolean;
  /** Size, time and inode; `missing` for one that is not there. */
  readonly stamp: string;
}

/** How a repository, or the part of it that a project is, stands at one moment. */
export interface ProjectState {
  /** Top folder of the repository. */
  readonly repository: string;
  readonly branch: string | null;
  /** null before the first commit. */
  readonly head: string | null;
  /** Where the branches stand; empty when there are too many of them. */
  readonly tips: readonly string[];
  /** At most 2,000; `dirty_count` counts all. */
  readonly dirty: readonly DirtyFile[];
  readonly dirty_count: number;
}

/** Throws as git is run. Untracked files are listed one by one: a folder that was there before may get a file. */
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
    // An escaped name is looked for under the escaped name, and so is missing both times.
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

/** What a file is known again by. */
export async function stampOf(path: string): Promise<string> {
  try {
    const facts = await lstat(path, { bigint: true });
    return `${facts.size}-${facts.mtimeNs}-${facts.ino}-${facts.mode}`;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    // Gone, or not to be looked at: alike for whoever compares.
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
