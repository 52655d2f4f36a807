import { unreadable } from '../run/run-git.js';
import type { RepositoryGit } from '../run/repository-git.js';
import { PatchReader, type Patch } from './patch.js';
import { shownBytes } from './patch-text.js';

/** They make the output of all diffs independent of settings and prevent git from running programs. */
const diffOptions: readonly string[] = [
  ...'--no-ext-diff --no-textconv --no-color --no-relative --ignore-submodules=dirty'.split(' '),
  ...'--submodule=short --find-renames --diff-algorithm=default'.split(' '),
];
export const patchOptions: readonly string[] = [
  ...diffOptions,
  ...'--patch --src-prefix=a/ --dst-prefix=b/ --unified=3 --inter-hunk-context=0'.split(' '),
];
const [NO_FILE, PLAIN_FILE, LINK] = ['000000', '100644', '120000'];
const RAW = /^:(\d{6}) (\d{6}) [0-9a-f]+ [0-9a-f]+ ([A-Z])\d*$/;
const COUNTS = /^(\d+|-)\t(\d+|-)\t/;
/** Files stored by name; the rest is only counted. A tool's answer shows fewer. */
const MAX_FILES = 1_000;
const MAX_LINKS = 50;
/** No system has longer names and targets; what a repository calls a link may have any size. */
const MAX_LINK_BYTES = 16_384;

/** A file of a diff. */
export interface FileStat {
  /** Relative to the top of the repository. */
  readonly file: string;
  /** Lines; 0 for a binary file. */
  readonly insertions: number;
  readonly deletions: number;
  readonly binary?: true;
  /** The old name of a renamed or copied file. */
  readonly from?: string;
  /** True when a name contains escaped bytes that are not UTF-8. */
  readonly escaped?: true;
  /** As git names them (120000: a link): where the mode changed, and the new one of a new file that is not 100644. */
  readonly old_mode?: string;
  readonly new_mode?: string;
  /** Where a link points now. */
  readonly link?: string;
}

/** What a diff says of a file: its letter (A, D, M, …) and modes; its lines follow when all files were named. */
interface DiffFile extends Partial<FileStat> {
  readonly file: string;
  readonly letter: string;
}

/** A diff `command` of git and what it compares. */
export interface DiffQuery {
  readonly command: readonly string[];
  readonly commits: readonly string[];
  /** Limits it to parts of the repository. */
  readonly within: string | undefined | readonly string[];
}

/** Limits a command to a part of the repository. */
export function pathArguments(within: DiffQuery['within']): readonly string[] {
  return ['--', ...(within === undefined ? [] : [within].flat())];
}

/** The patch of a diff. Throws like the runner. */
export async function readPatch(git: RepositoryGit, { command, commits, within }: DiffQuery): Promise<Patch> {
  const reader = new PatchReader();
  const args = [...command, ...patchOptions, ...commits, ...pathArguments(within)];
  await git.stream(args, (chunk) => reader.push(chunk));
  return reader.finish();
}

/** The files that a diff finds, by their names now, and the text of `git diff --shortstat`. Throws like the runner. */
export async function readDiff(git: RepositoryGit, query: DiffQuery) {
  const files = new Map<string, DiffFile>();
  const links: string[] = [];
  let summary = '';
  /** What takes the names that follow, and how many those are: the old one comes first. */
  let names: { readonly use: (name: Buffer, old?: Buffer) => void; readonly count: number } | undefined;
  let old: Buffer | undefined;
  const add = (name: Buffer, facts: Omit<Partial<DiffFile>, 'file'>): string | undefined => {
    const { text: file, escaped } = shownBytes(name);
    files.set(file, { letter: 'M', ...files.get(file), ...facts, file, ...(escaped && { escaped }) });
    return escaped ? undefined : file;
  };
  const takeRaw = (entry: string): typeof names => {
    const [, before, now, letter] = RAW.exec(entry) ?? [];
    if (letter === undefined || now === undefined) throw unreadable(`the entry "${entry}"`);
    const isChanged = before !== NO_FILE && now !== NO_FILE && before !== now;
    const isOdd = isChanged || (letter === 'A' && now !== PLAIN_FILE);
    const modes = { ...(isChanged && { old_mode: before }), ...(isOdd && { new_mode: now }) };
    const use = (name: Buffer): void => {
      const file = add(name, { letter, ...modes });
      if (now === LINK && file !== undefined && links.length < MAX_LINKS) links.push(file);
    };
    return { use, count: letter === 'R' || letter === 'C' ? 2 : 1 };
  };
  const takeCounts = (field: Buffer): typeof names => {
    const [all, added, removed] = COUNTS.exec(field.toString('latin1')) ?? [];
    if (all === undefined) throw unreadable('a numstat line without counts');
    const isBinary = added === '-';
    const lines = isBinary
      ? { insertions: 0, deletions: 0, binary: true as const }
      : { insertions: Number(added), deletions: Number(removed) };
    const use = (name: Buffer, from?: Buffer): void => {
      const { text, escaped } = shownBytes(from ?? name);
      add(name, { ...lines, ...(escaped && { escaped }), ...(from !== undefined && { from: text }) });
    };
    if (field.length === all.length) return { use, count: 2 };
    use(field.subarray(all.length));
    return undefined;
  };
  const options = [...diffOptions, '--raw', '--numstat', '--shortstat', '-z'];
  const args = [...query.command, ...options, ...query.commits, ...pathArguments(query.within)];
  await git.eachField(args, (field) => {
    const start = field.toString('latin1', 0, 2);
    if (names?.count === 2 && old === undefined) old = Buffer.from(field);
    else if (names !== undefined) {
      names.use(field, old);
      names = old = undefined;
    } else if (start.startsWith(':')) names = takeRaw(field.toString('latin1'));
    else if (/^$| \d/.test(start)) summary = field.toString('latin1').trim();
    else names = takeCounts(field);
  });
  for (const [file, link] of await targetsOf(git, query, links))
    files.set(file, { letter: 'M', ...files.get(file), file, link });
  return { files, summary: summary || 'No changes' };
}

/** Where links point: the content of a link is its target, which a patch adds. */
async function targetsOf(
  git: RepositoryGit,
  query: DiffQuery,
  links: readonly string[],
): Promise<(readonly [string, string])[]> {
  if (links.length === 0) return [];
  const { bytes, sections } = await readPatch(git, { ...query, within: links });
  return sections.flatMap(({ file, start, end }) => {
    const part = bytes.subarray(start, Math.min(end, start + MAX_LINK_BYTES));
    const [, ...hunks] = shownBytes(part).text.split('\n@@');
    const added = hunks.flatMap((hunk) => hunk.split('\n')).filter((line) => line.startsWith('+'));
    return added.length > 0 ? [[file, added.map((line) => line.slice(1)).join('\n')] as const] : [];
  });
}

/** The counts of a diff. */
export interface DiffStat {
  /** At most 1,000; `total` counts all. */
  readonly files: readonly FileStat[];
  readonly total: { readonly files: number };
  readonly summary: string;
}

/** Throws like the runner. */
export async function readDiffStat(git: RepositoryGit, query: DiffQuery): Promise<DiffStat> {
  const { files, summary } = await readDiff(git, query);
  // git names a file that was only touched, without counting lines of it.
  const changed = [...files.values()].flatMap(({ letter: _letter, file, insertions, deletions, ...more }) =>
    insertions === undefined || deletions === undefined ? [] : [{ file, insertions, deletions, ...more }],
  );
  return { files: changed.slice(0, MAX_FILES), total: { files: changed.length }, summary };
}
