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
  /** Paths to compare; left out, the part of the repository that git is for. */
  readonly files?: readonly string[];
}

/** The patch of a diff. Throws like the runner. */
export async function readPatch(git: RepositoryGit, query: DiffQuery): Promise<Patch> {
  const reader = new PatchReader();
  await git.stream(argumentsOf(git, query, patchOptions), (chunk) => reader.push(chunk));
  return reader.finish();
}

function argumentsOf(
  git: RepositoryGit,
  { command, commits, files }: DiffQuery,
  options: readonly string[],
): readonly string[] {
  return [...command, ...options, ...commits, ...(files === undefined ? git.paths : ['--', ...files])];
}

/** The files that a diff finds, by their names now, and the text of `git diff --shortstat`. Throws like the runner. */
export async function readDiff(git: RepositoryGit, query: DiffQuery) {
  const files = new Map<string, DiffFile>();
  const links: string[] = [];
  let summary = 'No changes';
  const add = (name: Buffer | undefined, facts: Omit<Partial<DiffFile>, 'file'>) => {
    const { text: file, escaped } = shownBytes(name ?? Buffer.of());
    files.set(file, { letter: 'M', ...files.get(file), ...facts, file, ...(escaped && { escaped }) });
    return { file, escaped };
  };
  const options = [...diffOptions, '--raw', '--numstat', '--shortstat', '-z'];
  const fields = (await git.fields(argumentsOf(git, query, options))).values();
  for (const field of fields) {
    const text = field.toString('latin1');
    const [, before, now, letter] = RAW.exec(text) ?? [];
    const [counts, added, removed] = COUNTS.exec(text) ?? [];
    if (letter !== undefined && now !== undefined) {
      if (letter === 'R' || letter === 'C') fields.next();
      const isChanged = before !== NO_FILE && now !== NO_FILE && before !== now;
      const isOdd = isChanged || (letter === 'A' && now !== PLAIN_FILE);
      const modes = { ...(isChanged && { old_mode: before }), ...(isOdd && { new_mode: now }) };
      const { file, escaped } = add(fields.next().value, { letter, ...modes });
      if (now === LINK && !escaped && links.length < MAX_LINKS) links.push(file);
    } else if (counts !== undefined) {
      const isBinary = added === '-';
      const lines = { insertions: isBinary ? 0 : Number(added), deletions: isBinary ? 0 : Number(removed) };
      // Both names of a renamed file follow.
      const old = text.length === counts.length ? shownBytes(fields.next().value ?? field) : undefined;
      add(old === undefined ? field.subarray(counts.length) : fields.next().value, {
        ...lines,
        ...(isBinary && { binary: true }),
        ...(old !== undefined && { from: old.text }),
        ...(old?.escaped === true && { escaped: true }),
      });
    } else if (/^ \d/.test(text)) summary = text.trim();
    else if (text !== '') throw unreadable(`the entry "${text}"`);
  }
  for (const [file, link] of await targetsOf(git, query, links))
    files.set(file, { letter: 'M', ...files.get(file), file, link });
  return { files, summary };
}

/** Where links point: the content of a link is its target, which a patch adds. */
async function targetsOf(
  git: RepositoryGit,
  query: DiffQuery,
  links: readonly string[],
): Promise<(readonly [string, string])[]> {
  if (links.length === 0) return [];
  const { bytes, sections } = await readPatch(git, { ...query, files: links });
  return sections.flatMap(({ file, hunks, end }) => {
    const { text } = shownBytes(bytes.subarray(hunks, Math.min(end, hunks + MAX_LINK_BYTES)));
    const added = text.split('\n').filter((line) => line.startsWith('+'));
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
