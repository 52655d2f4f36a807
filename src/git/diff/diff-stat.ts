import type { RepositoryGit } from '../run/repository-git.js';
import { readDiff, type FileModes, type FileStat } from './read-diff.js';

/** Files stored by name; the rest is only counted. A tool's answer shows fewer. */
const MAX_FILES = 1_000;

export interface DiffStat {
  /** At most 1,000; `total` counts all. */
  readonly files: readonly (FileStat & FileModes)[];
  readonly total: { readonly files: number };
  /** The text of `git diff --shortstat`. */
  readonly summary: string;
}

/** Counts the changes of the working tree against the index, or with `cached` of the index against the last commit. */
export async function readDiffStat(
  git: RepositoryGit,
  cached: boolean,
  within: string | undefined,
): Promise<DiffStat> {
  return numstat(git, ['diff', ...(cached ? ['--cached'] : [])], [], within);
}

/** The counts of a diff `command` for `commits`. */
export async function numstat(
  git: RepositoryGit,
  command: readonly string[],
  commits: readonly string[],
  within: string | undefined,
): Promise<DiffStat> {
  const files: FileStat[] = [];
  const modes = new Map<string, FileModes>();
  const total = { files: 0 };
  let last: FileStat | undefined;
  const { links, summary } = await readDiff(git, command, commits, within, {
    raw: (file, _letter, its) => {
      if (its.new_mode !== undefined) modes.set(file, its);
    },
    stat: (one) => {
      // A file with a conflict comes twice: first without counts, then with those of its text.
      if (one.file !== last?.file) total.files++;
      else if (files.at(-1) === last) files.pop();
      last = one;
      if (files.length < MAX_FILES) files.push(one);
    },
  });
  const whole = files.map((one) => ({ ...one, ...modes.get(one.file), ...links.get(one.file) }));
  return { files: whole, total, summary };
}
