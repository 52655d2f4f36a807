import { NulFields, unreadable } from '../nul-fields.js';
import type { RepositoryGit } from '../run/repository-git.js';
import { readPatch } from './changes.js';
import { diffOptions, pathArguments } from './diff-options.js';
import { shownBytes } from './shown-bytes.js';

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
}

/** As git names them (120000: a link): where the mode changed, and the new one of a new file that is not 100644. */
export interface FileModes {
  readonly old_mode?: string;
  readonly new_mode?: string;
  /** Where a link points now. */
  readonly link?: string;
}

/** What a diff has of each file: first the letters and modes of all files, then their lines. */
export interface DiffTaker {
  raw(file: string, letter: string, modes: FileModes): void;
  stat(stat: FileStat): void;
}

export interface DiffEnd {
  /** At most 50 of the files that are links now. */
  readonly links: ReadonlyMap<string, Pick<FileModes, 'link'>>;
  /** The text of `git diff --shortstat`. */
  readonly summary: string;
}

interface Names {
  readonly use: (name: Buffer, from?: Buffer) => void;
  /** Two follow, the first of which is the old one. */
  readonly isPair: boolean;
  readonly from?: Buffer;
}

const COLON = ':'.charCodeAt(0);
const [NO_FILE, PLAIN_FILE, LINK] = ['000000', '100644', '120000'];
const RAW = /^:(\d{6}) (\d{6}) [0-9a-f]+ [0-9a-f]+ ([A-Z])\d*$/;
const MAX_LINKS = 50;
/** No system has longer names and targets; what a repository calls a link may have any size. */
const MAX_LINK_BYTES = 16_384;

/** Passes on the files that a diff `command` finds. Throws like the runner. */
export async function readDiff(
  git: RepositoryGit,
  command: readonly string[],
  commits: readonly string[],
  within: string | undefined,
  taker: DiffTaker,
): Promise<DiffEnd> {
  const links: string[] = [];
  let names: Names | undefined;
  let summary = '';
  const takeRaw = (entry: string): Names => {
    const [, old, now, letter] = RAW.exec(entry) ?? [];
    if (letter === undefined || now === undefined) throw unreadable(`the entry "${entry}"`);
    const isChanged = old !== NO_FILE && now !== NO_FILE && old !== now;
    const isOdd = isChanged || (letter === 'A' && now !== PLAIN_FILE);
    const modes = { ...(isChanged && { old_mode: old }), ...(isOdd && { new_mode: now }) };
    const use = (name: Buffer): void => {
      const { text, escaped } = shownBytes(name);
      if (now === LINK && !escaped && links.length < MAX_LINKS) links.push(text);
      taker.raw(text, letter, modes);
    };
    return { use, isPair: letter === 'R' || letter === 'C' };
  };
  const fields = new NulFields((field) => {
    if (names !== undefined) {
      const { use, isPair, from } = names;
      names = isPair && from === undefined ? { use, isPair, from: Buffer.from(field) } : undefined;
      if (names === undefined) use(field, from);
    } else if (field[0] === COLON) names = takeRaw(field.toString('latin1'));
    else if (/^$| \d/.test(field.toString('latin1', 0, 2))) summary = field.toString('latin1').trim();
    else names = takeCounts(field, taker);
  });
  const args = [...command, ...diffOptions, '--raw', '--numstat', '--shortstat', '-z', ...commits];
  await git.stream([...args, ...pathArguments(within)], (chunk) => fields.push(chunk));
  // The summary ends with a line end alone.
  fields.push(Buffer.from([0]));
  return { links: await targetsOf(git, command, commits, links), summary: summary || 'No changes' };
}

/** Passes on the lines of a file, and returns what to do with its names when they follow. */
function takeCounts(field: Buffer, taker: DiffTaker): Names | undefined {
  const [all, added = '-', removed = '-'] = /^(\d+|-)\t(\d+|-)\t/.exec(field.toString('latin1')) ?? [];
  if (all === undefined) throw unreadable('a numstat line without counts');
  const use: Names['use'] = (name, oldName) => {
    const file = shownBytes(name);
    const from = oldName && shownBytes(oldName);
    taker.stat({
      file: file.text,
      ...(added === '-'
        ? { insertions: 0, deletions: 0, binary: true }
        : { insertions: Number(added), deletions: Number(removed) }),
      ...(from !== undefined && { from: from.text }),
      ...((file.escaped || from?.escaped === true) && { escaped: true }),
    });
  };
  if (field.length === all.length) return { use, isPair: true };
  use(field.subarray(all.length));
  return undefined;
}

/** The content of a link is its target: what a patch adds. */
async function targetsOf(
  git: RepositoryGit,
  command: readonly string[],
  commits: readonly string[],
  links: readonly string[],
): Promise<ReadonlyMap<string, Pick<FileModes, 'link'>>> {
  const targets = new Map<string, { link: string }>();
  if (links.length === 0) return targets;
  const { bytes, sections } = await readPatch(git, command, commits, links);
  for (const { file, start, end } of sections) {
    const part = bytes.subarray(start, Math.min(end, start + MAX_LINK_BYTES));
    const [, ...hunks] = shownBytes(part).text.split('\n@@');
    const added = hunks.flatMap((hunk) => hunk.split('\n')).filter((line) => line.startsWith('+'));
    if (added.length > 0) targets.set(file, { link: added.map((line) => line.slice(1)).join('\n') });
  }
  return targets;
}
