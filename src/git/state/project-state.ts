import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '../../base/errors.js';
import { pathArguments } from '../diff/diff-options.js';
import { NulFields } from '../nul-fields.js';
import { StatusParser } from '../parse-status.js';
import { isObjectName } from '../revision.js';
import type { GitSettings } from '../run/git-settings.js';
import { inBatches } from '../run/plain-index.js';
import type { RepositoryGit } from '../run/repository-git.js';
import type { RepositoryPath } from '../run/repository.js';
import { disguisesOf } from './disguises.js';
import type { ProjectState } from './snapshot-schema.js';

/** Uncommitted files that are stored; the rest is only counted. */
const MAX_DIRTY = 2_000;
/** Branch tips that are stored; with more branches, only HEAD counts. */
const MAX_TIPS = 1_000;
/** Files of `.git` that say what is ignored, and how files are compared. */
const VIEW_FILES: readonly string[] = ['info/exclude', 'info/attributes', 'info/sparse-checkout'];

/** Takes a snapshot, listing untracked files one by one, since an untracked folder may get new files. Throws like the runner. */
export async function readProjectState(
  git: RepositoryGit,
  at: RepositoryPath,
  settings: GitSettings,
): Promise<ProjectState> {
  const paths = new Map<string, boolean>();
  const all = new Set<string>();
  const parser = new StatusParser({
    file: (list, path) => {
      all.add(path);
      if (paths.has(path) || paths.size < MAX_DIRTY) paths.set(path, list === 'untracked');
    },
    renamed: () => undefined,
    // A file with an escaped name is not found under that name, so it counts as missing in both snapshots.
    escaped: () => undefined,
  });
  const fields = new NulFields((field) => parser.take(field));
  const options = ['status', '--porcelain=v2', '-z', '--branch', '--no-ahead-behind', '--no-renames'];
  const which = ['--untracked-files=all', '--ignored=no', '--ignore-submodules=dirty'];
  const list = async (args: readonly string[]): Promise<string> =>
    (await git.output(args)).bytes.toString('utf8');
  const [tips, disguises, views] = await Promise.all([
    readTips(list),
    disguisesOf(list, at.repository),
    readViews(at, settings),
    git.stream([...options, ...which, ...pathArguments(at.within)], (chunk) => fields.push(chunk)),
  ]);
  fields.end();
  return {
    repository: at.repository.top,
    branch: parser.branch.branch,
    head: parser.branch.head,
    tips,
    dirty: await inBatches([...paths], async ([path, untracked]) => ({
      path,
      untracked,
      stamp: await stampOf(join(at.repository.top, path)),
    })),
    dirty_count: all.size,
    disguises,
    views,
  };
}

/** A stamp that changes when the file changes. */
export async function stampOf(path: string): Promise<string> {
  try {
    const facts = await lstat(path, { bigint: true });
    return `${facts.size}-${facts.mtimeNs}-${facts.ino}-${facts.mode}`;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    // For a comparison, a missing file and an inaccessible one are the same.
    return 'missing';
  }
}

async function readTips(list: (args: readonly string[]) => Promise<string>): Promise<string[]> {
  const text = await list([
    'for-each-ref',
    `--count=${MAX_TIPS + 1}`,
    '--format=%(objectname)',
    'refs/heads',
  ]);
  const tips = text.split('\n').filter(isObjectName);
  return tips.length > MAX_TIPS ? [] : [...new Set(tips)];
}

async function readViews(at: RepositoryPath, { others }: GitSettings): Promise<Record<string, string>> {
  const views: Record<string, string> = {};
  for (const [name, value] of others) if (/^(?:core|index)\./.test(name)) views[name] = value;
  for (const file of VIEW_FILES) views[`.git/${file}`] = await stampOf(join(at.repository.commonDir, file));
  return views;
}
