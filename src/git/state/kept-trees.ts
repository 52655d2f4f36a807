import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BridgeError, systemCodeOf } from '../../base/errors.js';
import { emptyTree } from '../revision.js';
import { isThere, nulLines, type RepositoryGit } from '../run/repository-git.js';
import type { Repository } from '../run/repository.js';

/** Beyond this a start would take long, and the copies much room. */
const MAX_FILES = 5_000;
const MAX_BYTES = 100_000_000;
const UNCOMMITTED = ['ls-files', '--others', '--modified', '--exclude-standard', '-z'];
const GONE = ['diff-tree', '-r', '--name-only', '-z', '--no-renames', '--diff-filter=D'];

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
export async function keepTree(git: RepositoryGit, objects: string, before?: string): Promise<string> {
  await mkdir(objects, { recursive: true, mode: 0o700 });
  await takeIn(git, await git.fields([...UNCOMMITTED, ...git.paths]));
  const tree = await treeOfIndex(git);
  if (before === undefined) return tree;
  await takeIn(git, await git.fields([...GONE, before, tree]));
  return treeOfIndex(git);
}

/** Gives the index of `git` what the disk has at these paths: files, links, or nothing. */
export async function takeIn(git: RepositoryGit, names: readonly Buffer[]): Promise<void> {
  // A repository without a commit is listed as a folder.
  const paths = names.filter((name) => !name.toString('latin1').endsWith('/'));
  const filtered = new Set(await git.filtered(paths));
  const found = { file: new Array<Buffer>(), missing: new Array<Buffer>(), repository: new Array<Buffer>() };
  let bytes = 0;
  for (const path of paths) {
    if (filtered.has(path)) continue;
    const { kind, size } = await onDisk(git.repository.top, path);
    bytes += size;
    found[kind].push(path);
  }
  if (paths.length > MAX_FILES || bytes > MAX_BYTES)
    throw new BridgeError(
      'GIT_FAILED',
      `There are more than ${MAX_FILES} uncommitted files, or more than ${MAX_BYTES / 1_000_000} MB of them.`,
      'Commit them, or have git ignore them.',
    );
  const update = (how: readonly string[], paths: readonly Buffer[]) =>
    git.output(['update-index', ...how, '-z', '--stdin'], { input: nulLines(paths) });
  if (found.missing.length > 0) await update(['--force-remove'], found.missing);
  if (found.file.length > 0) await update(['--add', '--replace'], found.file);
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
  const whole = Buffer.concat([Buffer.from(`${top}/`), path]);
  const above = whole.length - path.length;
  try {
    for (let at = path.indexOf('/'); at > 0; at = path.indexOf('/', at + 1))
      if (!(await lstat(whole.subarray(0, above + at))).isDirectory())
        return { kind: 'missing', size: 0, instead: { path: path.subarray(0, at), isFolder: false } };
    const facts = await lstat(whole);
    if (facts.isFile() || facts.isSymbolicLink()) return { kind: 'file', size: facts.size };
    const isFolder = facts.isDirectory();
    const isRepository = isFolder && (await isThere(Buffer.concat([whole, Buffer.from('/.git')])));
    const kind = isRepository ? 'repository' : 'missing';
    return { kind, size: 0, instead: { path, isFolder: isFolder && !isRepository } };
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing', size: 0 };
    throw error;
  }
}

/** Of a project that is a folder of the repository, that folder alone. */
async function treeOfIndex(git: RepositoryGit): Promise<string> {
  const { within } = git.repository;
  if (within === undefined) return git.text(['write-tree', '--missing-ok']);
  const args = ['write-tree', '--missing-ok', `--prefix=${within}/`];
  const { code, text } = await git.output(args, { okCodes: [0, 128] });
  let tree = code === 0 ? text.trim() : emptyTree(git);
  for (const name of within.split('/').toReversed()) {
    const input = nulLines([`040000 tree ${tree}\t${name}`]);
    tree = await git.text(['mktree', '--missing', '-z'], { input });
  }
  return tree;
}
