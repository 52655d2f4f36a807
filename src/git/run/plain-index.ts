import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '../../base/errors.js';
import { withTempFolder } from '../../base/files/folders.js';
import { NulFields, unreadable } from '../nul-fields.js';
import type { Repository } from './repository.js';
import type { RepositoryCall } from './repository-git.js';
import type { GitRunner } from './run-git.js';

/** A repository of a million files has about 100 MB of entries. */
const MAX_BYTES = 200_000_000;
/** Concurrent `lstat` calls. */
const STATS_AT_ONCE = 32;
const NUL = Buffer.from([0]);

/** The entries of an index, as `git update-index --index-info` takes them. */
interface Entries {
  readonly lines: readonly Buffer[];
  /** Of entries that git was told to skip. */
  readonly skipped: readonly Buffer[];
}

/**
 * Runs `act` with an index that is made of nothing but the modes, object names and paths of the repository's own: no flag
 * (skip-worktree, assume-unchanged) and no false time of a file, which a program may have written there, hides a change from it. In a
 * sparse checkout the files that are not there stay left out. Changes nothing of the repository. Throws like the runner.
 */
export async function withPlainIndex<T>(
  runner: GitRunner,
  call: RepositoryCall,
  { top }: Repository,
  act: (call: RepositoryCall) => Promise<T>,
): Promise<T> {
  // In a temporary folder, where programs in the project cannot change it: git trusts its index.
  return withTempFolder('claude-code-bridge-git-', async (scratch) => {
    const environment = { ...call.environment, GIT_INDEX_FILE: join(scratch, 'index') };
    const plain = { ...call, environment };
    const update = async (args: readonly string[], input: readonly Buffer[] = []): Promise<void> => {
      const lines = Buffer.concat(input.flatMap((line) => [line, NUL]));
      await runner.output({ ...plain, args: ['update-index', ...args], input: lines, okCodes: [0, 1] });
    };
    const { lines, skipped } = await entriesOf(runner, call);
    await update(['-z', '--index-info'], lines);
    const isSparse = call.settings.others.some(
      ([name, on]) => name === 'core.sparsecheckout' && on === 'true',
    );
    const absent = isSparse ? await missing(top, skipped) : [];
    if (absent.length > 0) await update(['--skip-worktree', '-z', '--stdin'], absent);
    // Every file is read once, and not by each of the commands that follow.
    await update(['-q', '--refresh', '--ignore-submodules']);
    return act(plain);
  });
}

/** Whether git was told not to look at files that are there: skip-worktree and assume-unchanged. Throws like the runner. */
export async function hidesFiles(
  runner: GitRunner,
  call: RepositoryCall,
  { top }: Repository,
): Promise<boolean> {
  const { skipped } = await entriesOf(runner, call);
  return skipped.length > (await missing(top, skipped)).length;
}

async function entriesOf(runner: GitRunner, call: RepositoryCall): Promise<Entries> {
  const lines: Buffer[] = [];
  const skipped: Buffer[] = [];
  let bytes = 0;
  const fields = new NulFields((field) => {
    bytes += field.length;
    if (bytes > MAX_BYTES) throw unreadable(`more than ${MAX_BYTES} bytes of names`);
    // A letter for what git was told of the file, a blank, and the entry.
    const line = Buffer.from(field.subarray(2));
    lines.push(line);
    if (/[Sa-z]/.test(field.toString('latin1', 0, 1))) skipped.push(line.subarray(line.indexOf('\t') + 1));
  });
  const args = ['ls-files', '--stage', '-v', '-z'];
  await runner.stream({ ...call, args }, (chunk) => fields.push(chunk));
  fields.end();
  return { lines, skipped };
}

/** Those of the paths that are not on the disk. */
async function missing(top: string, paths: readonly Buffer[]): Promise<Buffer[]> {
  const there = await inBatches(paths, (path) => isThere(Buffer.concat([Buffer.from(`${top}/`), path])));
  return paths.filter((_, index) => there[index] === false);
}

/** What `stat` returns of each item, for some items at a time. */
export async function inBatches<Item, Found>(
  items: readonly Item[],
  stat: (item: Item) => Promise<Found>,
): Promise<Found[]> {
  const found: Found[] = [];
  for (let from = 0; from < items.length; from += STATS_AT_ONCE)
    found.push(...(await Promise.all(items.slice(from, from + STATS_AT_ONCE).map(stat))));
  return found;
}

/** Whether anything has the path; a broken link counts. Throws the error of the system for a path that cannot be read. */
export async function isThere(path: string | Buffer): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw error;
  }
}
