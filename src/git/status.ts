import { NulFields } from './nul-fields.js';
import { pathArguments } from './diff/diff-options.js';
import { StatusParser, type BranchFacts, type Renamed, type StatusList } from './parse-status.js';
import type { RepositoryGit } from './run/repository-git.js';

/** Names stored per list; the rest is only counted. A tool's answer shows fewer. */
const MAX_NAMES = 1_000;

const OPTIONS: readonly string[] = [
  'status',
  '--porcelain=v2',
  '-z',
  '--branch',
  '--ahead-behind',
  '--untracked-files=normal',
  '--ignored=no',
  '--ignore-submodules=dirty',
  '--find-renames',
];

export interface Status extends Readonly<BranchFacts> {
  readonly clean: boolean;
  /** At most 1,000 names each; `counts` has the full numbers. */
  readonly lists: Readonly<Record<StatusList, readonly string[]>>;
  readonly renamed: readonly Renamed[];
  readonly counts: Readonly<Record<StatusList | 'renamed', number>>;
  /** True when a name contains escaped bytes that are not UTF-8. */
  readonly escaped: boolean;
  /** Of a status that is limited to a part of the repository: the part, and whether all else is clean. */
  readonly part: { readonly within: string; readonly isRestClean: boolean } | undefined;
}

export async function readStatus(git: RepositoryGit, within: string | undefined): Promise<Status> {
  const lists: Record<StatusList, string[]> = {
    staged: [],
    modified: [],
    untracked: [],
    deleted: [],
    conflicted: [],
  };
  const counts = { staged: 0, modified: 0, untracked: 0, deleted: 0, conflicted: 0, renamed: 0 };
  const renamed: Renamed[] = [];
  let escaped = false;
  const parser = new StatusParser({
    file: (list, path) => {
      counts[list]++;
      if (lists[list].length < MAX_NAMES) lists[list].push(path);
    },
    renamed: (pair) => {
      counts.renamed++;
      if (renamed.length < MAX_NAMES) renamed.push(pair);
    },
    escaped: () => {
      escaped = true;
    },
  });
  const fields = new NulFields((field) => parser.take(field));
  const [isRestClean] = await Promise.all([
    within === undefined ? true : isCleanWithout(git, within),
    git.stream([...OPTIONS, ...pathArguments(within)], (chunk) => fields.push(chunk)),
  ]);
  fields.end();
  const clean = Object.values(counts).every((count) => count === 0);
  const part = within === undefined ? undefined : { within, isRestClean };
  return { ...parser.branch, clean, lists, renamed, counts, escaped, part };
}

/** True when nothing has changed outside of `within`. */
async function isCleanWithout(git: RepositoryGit, within: string): Promise<boolean> {
  const pathspecs = [':(top)', `:(top,exclude,literal)${within}`];
  let bytes = 0;
  await git.stream(
    ['--no-literal-pathspecs', ...OPTIONS.filter((option) => option !== '--branch'), '--', ...pathspecs],
    (chunk) => void (bytes += chunk.length),
  );
  return bytes === 0;
}
