import { NulFields } from '../nul-fields.js';
import { diffOptions, pathArguments } from './diff-options.js';
import { NumstatParser, type FileStat } from './parse-numstat.js';
import type { RepositoryGit } from '../run/repository-git.js';

/** Files stored by name; the rest is only counted. A tool's answer shows fewer. */
const MAX_FILES = 1_000;

interface DiffTotal {
  readonly files: number;
  readonly insertions: number;
  readonly deletions: number;
}

export interface DiffStat {
  /** At most 1,000; `total` counts all. */
  readonly files: readonly FileStat[];
  readonly total: DiffTotal;
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
  const total = { files: 0, insertions: 0, deletions: 0 };
  let last: FileStat | undefined;
  const parser = new NumstatParser((stat) => {
    // A file with a conflict comes twice: first without counts, then with those of its text.
    if (stat.file !== last?.file) total.files++;
    else if (files.at(-1) === last) files.pop();
    last = stat;
    total.insertions += stat.insertions;
    total.deletions += stat.deletions;
    if (files.length < MAX_FILES) files.push(stat);
  });
  const fields = new NulFields((field) => parser.take(field));
  const args = [...command, ...diffOptions, '--numstat', '-z', ...commits, ...pathArguments(within)];
  await git.stream(args, (chunk) => fields.push(chunk));
  fields.end();
  return { files, total, summary: diffSummary(total) };
}

function diffSummary({ files, insertions, deletions }: DiffTotal): string {
  if (files === 0) return 'No changes';
  const some = (count: number, what: string, sign: string): string =>
    `, ${count} ${what}${count === 1 ? '' : 's'}(${sign})`;
  const isNeither = insertions === 0 && deletions === 0;
  return (
    `${files} file${files === 1 ? '' : 's'} changed` +
    (insertions > 0 || isNeither ? some(insertions, 'insertion', '+') : '') +
    (deletions > 0 || isNeither ? some(deletions, 'deletion', '-') : '')
  );
}
