import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '../../base/errors.js';
import { readRegularFile } from '../../base/files/regular-file.js';
import { someNames } from '../../base/text.js';
import { isObjectName } from '../revision.js';
import { inBatches, type RepositoryGit } from '../run/repository-git.js';
import { readDirty } from '../status.js';
import type { ProjectState } from './snapshot-schema.js';

/** Uncommitted files that are stored; the rest is only counted. */
const MAX_DIRTY = 2_000;
/** Branch tips that are stored; with more branches, only HEAD counts. */
const MAX_TIPS = 1_000;
const MAX_LIST_BYTES = 1_000_000;
const LIST_TIPS = ['for-each-ref', `--count=${MAX_TIPS + 1}`, '--format=%(objectname)', 'refs/heads'];
const LIST_REPLACED = ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/replace'];
/** Files of `.git` that say what is ignored, and how files are compared. */
const VIEW_FILES: readonly string[] = ['info/exclude', 'info/attributes', 'info/sparse-checkout'];

/** Takes a snapshot. A file with an escaped name is not found under that name, so it counts as missing in both. Throws like the runner. */
export async function readProjectState(
  git: RepositoryGit,
  within: string | undefined,
): Promise<ProjectState> {
  const { top, commonDir } = git.repository;
  const dirty = new Map<string, boolean>();
  const all = new Set<string>();
  const [listed, disguises, { branch, head }] = await Promise.all([
    git.text(LIST_TIPS),
    disguisesOf(git),
    readDirty(git, within, (path, untracked) => {
      all.add(path);
      if (dirty.has(path) || dirty.size < MAX_DIRTY) dirty.set(path, untracked);
    }),
  ]);
  const tips = listed.split('\n').filter(isObjectName);
  const views = Object.fromEntries(git.settings.others.filter(([name]) => /^(?:core|index)\./.test(name)));
  for (const file of VIEW_FILES) views[`.git/${file}`] = await stampOf(join(commonDir, file));
  return {
    repository: top,
    branch,
    head,
    tips: tips.length > MAX_TIPS ? [] : [...new Set(tips)],
    dirty: await inBatches([...dirty], async ([path, untracked]) => ({
      path,
      untracked,
      stamp: await stampOf(join(top, path)),
    })),
    dirty_count: all.size,
    disguises,
    views,
  };
}

/** A stamp that changes when the file changes; a missing file and an inaccessible one are the same. */
export async function stampOf(path: string): Promise<string> {
  try {
    const facts = await lstat(path, { bigint: true });
    return `${facts.size}-${facts.mtimeNs}-${facts.ino}-${facts.mode}`;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return 'missing';
  }
}

/**
 * What makes git show other objects or other parents than those that are stored: replace refs, grafts, and the commits that a shallow
 * clone ends with. The bridge's git shows what is stored; that of a person does not. Throws like the runner.
 */
export async function disguisesOf(git: RepositoryGit): Promise<string[]> {
  const { commonDir } = git.repository;
  const [refs, grafts, shallow] = await Promise.all([
    git.text(LIST_REPLACED),
    linesOf(join(commonDir, 'info', 'grafts'), 'graft'),
    linesOf(join(commonDir, 'shallow'), 'shallow'),
  ]);
  return [...refs.split('\n').filter((line) => line !== ''), ...grafts, ...shallow];
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

/** What makes git show a repository otherwise than before, in words. */
export function doubtsOf(before: ProjectState, now: ProjectState): string[] {
  const fresh = newDisguises(now.disguises, before.disguises);
  const [then, views = {}] = [before.views ?? now.views ?? {}, now.views];
  const names = Object.keys({ ...then, ...views }).filter((name) => then[name] !== views[name]);
  const other = 'The git of a person shows other commits or files than the repository holds, by what is new';
  return [
    ...(fresh === undefined ? [] : [`${other}: ${fresh}.`]),
    ...(names.length === 0 ? [] : [`What git shows as changed depends on what is new: ${someNames(names)}.`]),
  ];
}
