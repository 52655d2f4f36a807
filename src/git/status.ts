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
  /** Files among the modified ones, also outside of the part, for which a filter says whether they are: the bridge runs none. */
  readonly filtered: readonly string[];
  /** True when nothing else than these has changed. */
  readonly onlyFiltered: boolean;
  /** Of a status that is limited to a part of the repository: the part, and what is known of all else. */
  readonly part: { readonly within: string; readonly rest: 'clean' | 'changed' | 'unknown' } | undefined;
}

type Found = Pick<
  Status,
  'clean' | 'lists' | 'renamed' | 'counts' | 'escaped' | 'filtered' | 'onlyFiltered'
> & {
  readonly branch: Readonly<BranchFacts>;
};

export async function readStatus(git: RepositoryGit, within: string | undefined): Promise<Status> {
  const [{ branch, ...found }, rest] = await Promise.all([
    collect(git, [...OPTIONS, ...pathArguments(within)]),
    within === undefined ? undefined : collect(git, withoutPart(within)),
  ]);
  if (within === undefined || rest === undefined) return { ...branch, ...found, part: undefined };
  const part = { within, rest: rest.clean ? 'clean' : rest.onlyFiltered ? 'unknown' : 'changed' } as const;
  return { ...branch, ...found, filtered: [...found.filtered, ...rest.filtered], part };
}

/** The arguments for all that is outside of `within`. */
function withoutPart(within: string): readonly string[] {
  const pathspecs = [':(top)', `:(top,exclude,literal)${within}`];
  return ['--no-literal-pathspecs', ...OPTIONS, '--', ...pathspecs];
}

async function collect(git: RepositoryGit, args: readonly string[]): Promise<Found> {
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
  await git.stream(args, (chunk) => fields.push(chunk));
  fields.end();
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const filtered = await git.filtered(lists.modified);
  const onlyFiltered = total > 0 && total === filtered.length;
  return {
    branch: parser.branch,
    clean: total === 0,
    lists,
    renamed,
    counts,
    escaped,
    filtered,
    onlyFiltered,
  };
}
