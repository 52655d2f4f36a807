import { shownBytes } from './diff/patch-text.js';
import type { RepositoryGit } from './run/repository-git.js';
import { unreadable } from './run/run-git.js';

/** What is before the path of an entry that is changed, renamed, in conflict, or untracked. git finds no copies: no setting asks for them. */
const ENTRY = /^(?:1 (..) (?:\S+ ){6}|2 (..) (?:\S+ ){7}|(u) (?:\S+ ){9}|(\?) )/;

const STATUS = ['status', '--porcelain=v2', '-z', '--branch', '--ignored=no', '--ignore-submodules=dirty'];
const WHOLE_STATUS = [...STATUS, '--ahead-behind', '--untracked-files=normal', '--find-renames'];
/** Untracked files one by one, since an untracked folder may get new files. */
const DIRTY_FILES = [...STATUS, '--no-ahead-behind', '--untracked-files=all', '--no-renames'];

type StatusList = 'staged' | 'modified' | 'untracked' | 'deleted' | 'conflicted';

export interface Renamed {
  readonly from: string;
  readonly to: string;
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
  readonly lists: Readonly<Record<StatusList, readonly string[]>>;
  readonly renamed: readonly Renamed[];
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
  readonly renamed?: Renamed;
}

/** The status of the part of the repository that `git` is for. */
export async function readStatus(git: RepositoryGit): Promise<Status> {
  const { within } = git.repository;
  if (within === undefined) return collect(git, [...WHOLE_STATUS, '--']);
  const others = ['--', ':(top)', `:(top,exclude,literal)${within}`];
  const [found, rest] = await Promise.all([
    collect(git, [...WHOLE_STATUS, ...git.paths]),
    collect(git, ['--no-literal-pathspecs', ...WHOLE_STATUS, ...others]),
  ]);
  const part = { within, rest: rest.clean ? 'clean' : rest.onlyFiltered ? 'unknown' : 'changed' } as const;
  return { ...found, filtered: [...found.filtered, ...rest.filtered], part };
}

/** The uncommitted files, and the branch. */
export function readDirty(git: RepositoryGit) {
  return readEntries(git, [...DIRTY_FILES, ...git.paths]);
}

async function collect(git: RepositoryGit, args: readonly string[]): Promise<Status> {
  const { entries, ...branch } = await readEntries(git, args);
  const listed = (list: StatusList): readonly string[] =>
    entries.filter(({ lists }) => lists.includes(list)).map(({ path }) => path);
  const lists = {
    staged: listed('staged'),
    modified: listed('modified'),
    untracked: listed('untracked'),
    deleted: listed('deleted'),
    conflicted: listed('conflicted'),
  };
  const renamed = entries.flatMap((entry) => entry.renamed ?? []);
  const total = Object.values({ ...lists, renamed }).reduce((sum, { length }) => sum + length, 0);
  const filtered = await git.filtered(lists.modified);
  return {
    ...branch,
    clean: total === 0,
    lists,
    renamed,
    escaped: entries.some(({ escaped }) => escaped),
    filtered,
    onlyFiltered: total > 0 && total === filtered.length,
    part: undefined,
  };
}

/** What `git status --porcelain=v2 -z --branch` says. Throws GIT_FAILED for what no version of the format allows. */
async function readEntries(git: RepositoryGit, args: readonly string[]) {
  const branch: BranchFacts = {
    branch: null,
    head: null,
    upstream: null,
    upstreamExists: false,
    ahead: 0,
    behind: 0,
  };
  const entries: Entry[] = [];
  const fields = (await git.fields(args)).values();
  for (const field of fields) {
    const kind = field.toString('latin1', 0, 1);
    if (kind === '#') takeHeader(branch, shownBytes(field.subarray(2)).text);
    else if (kind !== '!') entries.push(entryOf(field, () => fields.next().value));
  }
  return { ...branch, entries };
}

/** `next` gives the field after it, which is the old name of a renamed file. */
function entryOf(field: Buffer, next: () => Buffer | undefined): Entry {
  const line = field.toString('latin1');
  const [head, one, two, conflict, other] = ENTRY.exec(line) ?? [];
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
  const old = two === undefined ? undefined : shownBytes(next() ?? Buffer.of());
  if (old === undefined) return { path, lists, escaped };
  return { path, lists, escaped: escaped || old.escaped, renamed: { from: old.text, to: path } };
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
