import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BridgeError, systemCodeOf } from '../../base/errors.js';
import { emptyTree } from '../revision.js';
import { isThere } from '../run/plain-index.js';
import type { RepositoryGit } from '../run/repository-git.js';
import type { Repository, RepositoryPath } from '../run/repository.js';

/** Beyond this a start would take long, and the copies much room. */
const MAX_FILES = 5_000;
const MAX_BYTES = 100_000_000;
const NUL = Buffer.from([0]);
const SLASH = '/';

/** Has git write objects into a folder of their own, and read those of the repository, too. */
export function objectsIn(objects: string, { commonDir }: Repository): Record<string, string> {
  const own = `"${join(commonDir, 'objects').replaceAll(/["\\]/g, '\\$&')}"`;
  return { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: own };
}

/**
 * The files of a project as a tree: not ignored ones, those behind a filter, and other repositories. `git` runs with `objectsIn`, so
 * nothing is written into the repository; it has an index of its own, which is changed. With `before`, the tree of an earlier moment, all
 * files of that one that are still there are in it, whatever is ignored by now. Throws GIT_FAILED, also for more than is stored.
 */
export async function keepTree(
  git: RepositoryGit,
  { repository: { top }, within }: RepositoryPath,
  objects: string,
  before?: string,
): Promise<string> {
  await mkdir(objects, { recursive: true, mode: 0o700 });
  const inside = within === undefined ? [] : ['--', within];
  const list = ['ls-files', '--others', '--modified', '--exclude-standard', '-z', ...inside];
  await takeIn(git, top, await git.fields(list));
  const tree = await treeOfIndex(git, within);
  if (before === undefined) return tree;
  const gone = ['diff-tree', '-r', '--name-only', '-z', '--no-renames', '--diff-filter=D', before, tree];
  await takeIn(git, top, await git.fields(gone));
  return treeOfIndex(git, within);
}

/** Gives the index of `git` what the disk has at these paths: files, links, or nothing. */
export async function takeIn(git: RepositoryGit, top: string, names: readonly Buffer[]): Promise<void> {
  // A repository without a commit is listed as a folder.
  const paths = names.filter((name) => name.at(-1) !== SLASH.charCodeAt(0));
  const filtered = new Set(await git.filtered(paths));
  const lists: { readonly file: Buffer[]; readonly missing: Buffer[] } = { file: [], missing: [] };
  let bytes = 0;
  for (const path of paths) {
    if (filtered.has(path)) continue;
    const { kind, size } = await onDisk(top, path);
    bytes += size;
    if (kind !== 'repository') lists[kind].push(path, NUL);
  }
  if (paths.length > MAX_FILES || bytes > MAX_BYTES) throw tooMuch();
  const update = async (how: readonly string[], input: readonly Buffer[]): Promise<void> => {
    if (input.length > 0)
      await git.output(['update-index', ...how, '-z', '--stdin'], { input: Buffer.concat(input) });
  };
  await update(['--force-remove'], lists.missing);
  await update(['--add', '--replace'], lists.file);
}

interface Found {
  /** A link is a file, and what lies behind one is missing, as are folders and pipes. */
  readonly kind: 'file' | 'missing' | 'repository';
  readonly size: number;
  /** What is there instead of a file, or above it; a folder without a repository of its own. */
  readonly instead?: { readonly path: Buffer; readonly isFolder: boolean };
}

/** What the disk has at a path of a repository. */
export async function onDisk(top: string, path: Buffer): Promise<Found> {
  const missing = (instead?: Found['instead']): Found => ({
    kind: 'missing',
    size: 0,
    ...(instead !== undefined && { instead }),
  });
  const folder = Buffer.from(`${top}${SLASH}`);
  const whole = Buffer.concat([folder, path]);
  try {
    for (let at = path.indexOf(SLASH); at > 0; at = path.indexOf(SLASH, at + 1))
      if (!(await lstat(whole.subarray(0, folder.length + at))).isDirectory())
        return missing({ path: path.subarray(0, at), isFolder: false });
    const facts = await lstat(whole);
    if (facts.isFile() || facts.isSymbolicLink()) return { kind: 'file', size: facts.size };
    if (!facts.isDirectory()) return missing({ path, isFolder: false });
    const isRepository = await isThere(Buffer.concat([whole, Buffer.from('/.git')]));
    return {
      ...missing({ path, isFolder: !isRepository }),
      ...(isRepository && { kind: 'repository' as const }),
    };
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return missing();
    throw error;
  }
}

/** Of a project that is a folder of the repository, that folder alone. */
async function treeOfIndex(git: RepositoryGit, within: string | undefined): Promise<string> {
  const whole = await line(git, ['write-tree', '--missing-ok']);
  if (within === undefined) return whole;
  const { code, text } = await git.output(['rev-parse', '--verify', '--quiet', `${whole}:${within}`], {
    okCodes: [0, 1, 128],
  });
  let tree = code === 0 ? text.trim() : await emptyTree(git);
  for (const name of within.split(SLASH).toReversed())
    tree = await line(git, ['mktree', '--missing', '-z'], Buffer.from(`040000 tree ${tree}\t${name}\0`));
  return tree;
}

async function line(git: RepositoryGit, args: readonly string[], input?: Buffer): Promise<string> {
  return (await git.output(args, input === undefined ? {} : { input })).text.trim();
}

function tooMuch(): BridgeError {
  return new BridgeError(
    'GIT_FAILED',
    `There are more than ${MAX_FILES} uncommitted files, or more than ${MAX_BYTES / 1_000_000} MB of them.`,
    'Commit them, or have git ignore them.',
  );
}
