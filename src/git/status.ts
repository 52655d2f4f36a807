import { pathArguments } from './diff/read-diff.js';
import { shownBytes } from './diff/patch-text.js';
import type { RepositoryGit } from './run/repository-git.js';
import { unreadable } from './run/run-git.js';

/** Names stored per list; the rest is only counted. A tool's answer shows fewer. */
const MAX_NAMES = 1_000;
/** What is before the path of an entry that is changed, renamed or copied, in conflict, or untracked. */
const ENTRY = /^(?:1 (..) (?:\S+ ){6}|2 (..) (?:\S+ ){6}([RC])\d+ |(u) (?:\S+ ){9}|(\?) )/;

const STATUS = ['status', '--porcelain=v2', '-z', '--branch', '--ignored=no', '--ignore-submodules=dirty'];
const WHOLE_STATUS = [...STATUS, '--ahead-behind', '--untracked-files=normal', '--find-renames'];
/** Untracked files one by one, since an untracked folder may get new files. */
const DIRTY_FILES = [...STATUS, '--no-ahead-behind', '--untracked-files=all', '--no-renames'];

type StatusList = 'staged' | 'modified' | 'untracked' | 'deleted' | 'conflicted';

export interface Renamed {
  readonly from: string;
  readonly to: string;
  /** True for a copy: the old file still exists. */
  readonly copy?: true;
}

interface BranchFacts {
  /** null when HEAD is detached. */
  branch: string | null;
  /** The commit of HEAD; null before the first one. */
  head: string | null;
  upstream: string | null;
  /** False when no upstream is set, or the upstream does not exist (any more). */
  upstreamExists: boolean;
  ahead: number;
  behind: number;
}

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

/** What an entry of the status says of a path. */
interface Entry {
  readonly path: string;
  readonly lists: readonly StatusList[];
  readonly escaped: boolean;
  /** `R` or `C` where the old name of a renamed or copied file follows. */
  readonly pairs?: string;
  readonly renamed?: Renamed;
}

export async function readStatus(git: RepositoryGit, within: string | undefined): Promise<Status> {
  if (within === undefined) return collect(git, [...WHOLE_STATUS, '--']);
  const others = ['--', ':(top)', `:(top,exclude,literal)${within}`];
  const [found, rest] = await Promise.all([
    collect(git, [...WHOLE_STATUS, ...pathArguments(within)]),
    collect(git, ['--no-literal-pathspecs', ...WHOLE_STATUS, ...others]),
  ]);
  const part = { within, rest: rest.clean ? 'clean' : rest.onlyFiltered ? 'unknown' : 'changed' } as const;
  return { ...found, filtered: [...found.filtered, ...rest.filtered], part };
}

/** The uncommitted files, each with whether it is untracked, and the branch. */
export async function readDirty(
  git: RepositoryGit,
  within: string | undefined,
  take: (path: string, untracked: boolean) => void,
): Promise<Readonly<BranchFacts>> {
  return readEntries(git, [...DIRTY_FILES, ...pathArguments(within)], ({ path, lists }) =>
    take(path, lists.includes('untracked')),
  );
}

async function collect(git: RepositoryGit, args: readonly string[]): Promise<Status> {
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
  const branch = await readEntries(git, args, (entry) => {
    escaped ||= entry.escaped;
    for (const list of entry.lists) if (counts[list]++ < MAX_NAMES) lists[list].push(entry.path);
    if (entry.renamed !== undefined && counts.renamed++ < MAX_NAMES) renamed.push(entry.renamed);
  });
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const filtered = await git.filtered(lists.modified);
  const onlyFiltered = total > 0 && total === filtered.length;
  const found = { lists, renamed, counts, escaped, filtered, onlyFiltered };
  return { ...branch, clean: total === 0, ...found, part: undefined };
}

/** Passes on the entries of `git status --porcelain=v2 -z --branch`. Throws GIT_FAILED for what no version of the format allows. */
async function readEntries(
  git: RepositoryGit,
  args: readonly string[],
  take: (entry: Entry) => void,
): Promise<BranchFacts> {
  const branch: BranchFacts = {
    branch: null,
    head: null,
    upstream: null,
    upstreamExists: false,
    ahead: 0,
    behind: 0,
  };
  /** An entry whose old name follows. */
  let pair: Entry | undefined;
  await git.eachField(args, (field) => {
    const kind = field.toString('latin1', 0, 1);
    if (pair?.pairs !== undefined) {
      const { text: from, escaped } = shownBytes(field);
      const renamed = { from, to: pair.path, ...(pair.pairs === 'C' && { copy: true as const }) };
      take({ ...pair, escaped: pair.escaped || escaped, renamed });
      pair = undefined;
    } else if (kind === '#') takeHeader(branch, shownBytes(field.subarray(2)).text);
    else if (kind !== '!') {
      const entry = entryOf(field);
      if (entry.pairs === undefined) take(entry);
      else pair = entry;
    }
  });
  return branch;
}

function entryOf(field: Buffer): Entry {
  const line = field.toString('latin1');
  const [head, one, two, pairs, conflict, other] = ENTRY.exec(line) ?? [];
  if (head === undefined) throw unreadable(`the entry "${line}"`);
  const [inIndex = '.', inFolder = '.'] = one ?? two ?? '';
  const lists: StatusList[] = [];
  if (conflict !== undefined) lists.push('conflicted');
  if (other !== undefined) lists.push('untracked');
  if (inIndex !== '.') lists.push('staged');
  // These include a submodule with another commit, a changed type, and a file added with `git add -N`.
  if ('MTARC'.includes(inFolder)) lists.push('modified');
  if (inIndex === 'D' || inFolder === 'D') lists.push('deleted');
  const { text: path, escaped } = shownBytes(field.subarray(head.length));
  return { path, lists, escaped, ...(pairs !== undefined && { pairs }) };
}

/** Later versions of git may add headers; the format says to ignore unknown ones. */
function takeHeader(facts: BranchFacts, text: string): void {
  const space = text.indexOf(' ');
  const [name, value] = [text.slice(0, space), text.slice(space + 1)];
  if (name === 'branch.oid') facts.head = value === '(initial)' ? null : value;
  else if (name === 'branch.head') facts.branch = value === '(detached)' ? null : value;
  else if (name === 'branch.upstream') facts.upstream = value;
  else if (name === 'branch.ab') {
    const [, ahead, behind] = /^\+(\d+) -(\d+)$/.exec(value) ?? [];
    if (ahead === undefined) throw unreadable(`the counts "${value}"`);
    Object.assign(facts, { upstreamExists: true, ahead: Number(ahead), behind: Number(behind) });
  }
}
