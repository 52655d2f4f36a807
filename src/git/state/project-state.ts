import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreSystemError } from '../../base/errors.js';
import { readRegularFile } from '../../base/files/regular-file.js';
import { someNames } from '../../base/text.js';
import { inBatches, type RepositoryGit } from '../run/repository-git.js';
import { readDirty } from '../status.js';
import type { ProjectState } from './snapshot-schema.js';

/** Uncommitted files that are stored; the rest is only counted. */
const MAX_DIRTY = 2_000;
/** Branches that are stored; with more of them, only HEAD counts. */
const MAX_BRANCHES = 1_000;
const MAX_LIST_BYTES = 1_000_000;
const LIST_REFS = ['for-each-ref', '--format=%(refname) %(objectname)'];
const LIST_BRANCHES = [...LIST_REFS, `--count=${MAX_BRANCHES + 1}`, 'refs/heads', 'refs/stash'];
/** Files of `.git` that say what is ignored, and how files are compared. */
const VIEW_FILES: readonly string[] = ['info/exclude', 'info/attributes', 'info/sparse-checkout'];

/** Takes a snapshot. A file with an escaped name is not found under that name, so it counts as missing in both. Throws like the runner. */
export async function readProjectState(git: RepositoryGit): Promise<ProjectState> {
  const { top, commonDir } = git.repository;
  const [listed, disguises, { branch, head, entries }] = await Promise.all([
    refsOf(git, LIST_BRANCHES),
    disguisesOf(git),
    readDirty(git),
  ]);
  const dirty = new Map(entries.map(({ path, lists }) => [path, lists.includes('untracked')]));
  const views = Object.fromEntries(git.settings.others.filter(([name]) => /^(?:core|index)\./.test(name)));
  for (const file of VIEW_FILES) views[`.git/${file}`] = await stampOf(join(commonDir, file));
  return {
    repository: top,
    branch,
    head,
    ...(listed.length <= MAX_BRANCHES && { branches: Object.fromEntries(listed) }),
    dirty: await inBatches([...dirty].slice(0, MAX_DIRTY), async ([path, untracked]) => ({
      path,
      untracked,
      stamp: await stampOf(join(top, path)),
    })),
    dirty_count: dirty.size,
    disguises,
    views,
  };
}

/** A stamp that changes when the file changes; a missing file and an inaccessible one are the same. */
export async function stampOf(path: string): Promise<string> {
  const facts = await lstat(path, { bigint: true }).catch(ignoreSystemError);
  return facts === undefined ? 'missing' : `${facts.size}-${facts.mtimeNs}-${facts.ino}-${facts.mode}`;
}

/**
 * What makes git show other objects or other parents than those that are stored: replace refs, grafts, and the commits that a shallow
 * clone ends with. The bridge's git shows what is stored; that of a person does not. Throws like the runner.
 */
export async function disguisesOf(git: RepositoryGit): Promise<string[]> {
  const { commonDir } = git.repository;
  const [refs, grafts, shallow] = await Promise.all([
    refsOf(git, [...LIST_REFS, 'refs/replace']),
    linesOf(join(commonDir, 'info', 'grafts'), 'graft'),
    linesOf(join(commonDir, 'shallow'), 'shallow'),
  ]);
  return [...refs.map((ref) => ref.join(' ')), ...grafts, ...shallow];
}

/** Each with its object. */
async function refsOf(git: RepositoryGit, args: readonly string[]): Promise<[string, string][]> {
  const lines = (await git.text(args)).split('\n').map((line) => line.split(' '));
  return lines.flatMap(([ref = '', object]) => (object === undefined ? [] : [[ref, object]]));
}

async function linesOf(path: string, kind: string): Promise<string[]> {
  const read = await readRegularFile(path, MAX_LIST_BYTES);
  if (read.state === 'missing') return [];
  const lines = read.state === 'refused' ? [read.why] : read.bytes.toString('latin1').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => `${kind} ${line}`);
}

/** Those that are new, for a sentence; undefined when there are none. */
export function newDisguises(now: readonly string[], before: readonly string[]): string | undefined {
  const fresh = now.filter((one) => !before.includes(one));
  return fresh.length === 0 ? undefined : someNames(fresh);
}

/** What makes git show a repository otherwise than before, and what is different beside HEAD, in words. */
export function doubtsOf(before: ProjectState, now: ProjectState): string[] {
  const fresh = newDisguises(now.disguises, before.disguises);
  const names = changedNames(before.views ?? now.views ?? {}, now.views ?? {});
  const other = 'The git of a person shows other commits or files than the repository holds, by what is new';
  return [
    ...branchWords(before.branches, now),
    ...(fresh === undefined ? [] : [`${other}: ${fresh}.`]),
    ...(names.length === 0 ? [] : [`What git shows as changed depends on what is new: ${someNames(names)}.`]),
  ];
}

/** The branches but that of HEAD, whose commits are listed. */
function branchWords(before: ProjectState['branches'], { branches: now, branch }: ProjectState): string[] {
  if (before === undefined || now === undefined)
    return ['It is not known which other branches have changed since the task began.'];
  const names = changedNames(before, now).filter((name) => name !== `refs/heads/${branch}`);
  const how = (name: string) => (name in before ? (name in now ? 'moved' : 'gone') : 'new');
  const shown = names.map((name) => `${name.replace(/^refs\/(?:heads\/)?/, '')} (${how(name)})`);
  const words = 'Other branches that have changed since the task began, whoever changed them';
  return names.length === 0 ? [] : [`${words}: ${someNames(shown)}.`];
}

function changedNames(before: Readonly<Record<string, string>>, now: Readonly<Record<string, string>>) {
  return Object.keys({ ...before, ...now }).filter((name) => before[name] !== now[name]);
}
