import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { lstat, open, realpath, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreMissing } from '../../base/errors.js';
import { withTempFolder } from '../../base/files/folders.js';
import { someNames } from '../../base/text.js';
import { repositoryAt } from '../run/repository.js';
import {
  doesNotFit,
  noAbort,
  nulLines,
  openGit,
  type GitDoor,
  type RepositoryGit,
} from '../run/repository-git.js';
import { refusedByGit, someFiles, treeOfMerge } from '../worktree/bring-work.js';
import { objectsIn, onDisk, takeIn } from './kept-trees.js';

/** The files alone count, whatever the repository says of renames and of lines that are merged by taking both. */
const PLAIN_MERGE: readonly string[] = ['-c', 'merge.renames=false', '-c', 'merge.union.driver=false'];
/** The mode of another repository. */
const MODULE = '160000';
const NEW =
  'New files stay, since git cannot say of all of them that they were not there before; remove them by hand';
/** git writes over the files; with less room one could be left half written. */
const NEEDED_BYTES = 256 * 1024 * 1024;
const CHANGED = ['diff-tree', '-r', '-z', '--no-renames'];
const OWNER_EXECUTES = 0o100;
const ALL_READ = 0o444;
const ALL_READ_WRITE = 0o666;
const SHOWN = 'The diff of the task shows what it changed: take it back by hand, or start a task for it.';
const BY_HAND = `Nothing was changed. ${SHOWN}`;

export interface UndoQuery {
  /** Top folder of the working tree. */
  readonly repository: string;
  /** The trees of the project when the task began and when it ended, in `objects`: see `keepTree`. */
  readonly start: string;
  readonly end: string;
  readonly objects: string;
}

export interface UndoReport {
  /** Names of the files that have changed now, relative to the top. */
  readonly files: readonly string[];
  /** Sentences: what was left as it is. */
  readonly left: readonly string[];
}

export interface UndoParts extends GitDoor {
  /** Of the disk of a folder; left out, those that the system says are free. */
  readonly freeBytes?: (folder: string) => Promise<number>;
}

/**
 * Takes back in the files what lies between two kept trees, all of it or nothing, but for new files, which stay: later changes of other
 * files and lines stay, too. The index and the commits of the repository do not change, and nothing that it configures runs. Throws
 * NOT_A_REPOSITORY, and WORK_DOES_NOT_FIT where the same lines changed later, or something else is in the way.
 */
export async function undoChanges(parts: UndoParts, query: UndoQuery): Promise<UndoReport> {
  const { freeBytes = freeBytesOf } = parts;
  const real = await realpath(query.repository).catch(ignoreMissing);
  if (real === undefined) throw doesNotFit(`The folder ${query.repository} is no longer there.`, BY_HAND);
  if (real !== query.repository)
    throw doesNotFit(`The folder ${query.repository} was replaced by a link since the task.`, BY_HAND);
  const repository = await repositoryAt(parts.roots, query.repository);
  // Cancelling has no effect: half of it would be worse than a late answer.
  const opened = await openGit(parts, repository, noAbort);
  return withTempFolder('claude-code-bridge-git-', async (scratch) => {
    const environment = { ...objectsIn(query.objects, repository), GIT_INDEX_FILE: join(scratch, 'index') };
    const git = opened.changing().with({ environment });
    const { wanted, fresh, modules } = await changesBetween(git, query.end, query.start);
    if ((await freeBytes(repository.top)) < NEEDED_BYTES)
      throw doesNotFit(
        `The disk of ${repository.top} has less than ${NEEDED_BYTES / 1024 ** 2} MB left, and files could be left half written.`,
        `Make room, then try again. ${BY_HAND}`,
      );
    const names = wanted.length === 0 ? [] : await takeBack(git, query.end, wanted);
    return {
      files: names.map((name) => name.toString('utf8')),
      left: [
        ...(modules.length > 0 ? [`Submodules stay as they are: ${someFiles(modules)}.`] : []),
        ...(fresh.length > 0 ? [`${NEW}: ${someFiles(fresh)}.`] : []),
      ],
    };
  });
}

/** A file as the start has it, and what `update-index --index-info` takes for it. */
interface Change {
  readonly path: Buffer;
  readonly info: Buffer;
}

/** The files to take back, those that the start does not have, and other repositories. */
async function changesBetween(git: RepositoryGit, from: string, to: string) {
  const found = { wanted: new Array<Change>(), fresh: new Array<Buffer>(), modules: new Array<Buffer>() };
  const fields = await git.fields([...CHANGED, '--raw', '--no-abbrev', from, to]);
  for (const [at, path] of fields.entries()) {
    if (at % 2 === 0) continue;
    const raw = fields[at - 1]?.toString('latin1', 1) ?? '';
    const [oldMode, mode = '', , name = ''] = raw.split(' ');
    if (oldMode === MODULE || mode === MODULE) found.modules.push(path);
    else if (/^0+$/.test(mode)) found.fresh.push(path);
    else found.wanted.push({ path, info: Buffer.concat([Buffer.from(`${mode} ${name}\t`), path]) });
  }
  return found;
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Gives the names of the files that have changed. */
async function takeBack(
  git: RepositoryGit,
  end: string,
  changes: readonly Change[],
): Promise<readonly Buffer[]> {
  await git.text(['read-tree', end]);
  const input = nulLines(changes.map(({ info }) => info));
  await git.text(['update-index', '--replace', '-z', '--index-info'], { input });
  const theirs = await git.text(['write-tree', '--missing-ok']);
  await git.text(['read-tree', end]);
  const paths = changes.map(({ path }) => path);
  await takeIn(git, paths);
  const ours = await git.text(['write-tree', '--missing-ok']);
  const merged = ours === end ? theirs : await mergedTree(git, end, ours, theirs);
  const names = await git.fields([...CHANGED, '--name-only', ours, merged]);
  const filtered = await git.filtered(names);
  if (filtered.length > 0)
    throw doesNotFit(`The bridge does not run the git filter of ${someFiles(filtered)}.`, BY_HAND);
  await requireFree(git, names);
  // git writes the files as new ones, and of their permissions it knows `executable` alone.
  const modes = new Map<Buffer, number>();
  for (const name of names) {
    const path = Buffer.concat([Buffer.from(`${git.repository.top}/`), name]);
    const facts = await lstat(path).catch(() => undefined);
    if (facts?.isFile() === true) modes.set(path, facts.mode);
  }
  try {
    // git checks all of it before it writes the first file.
    await git.text(['read-tree', '-m', '-u', '--no-sparse-checkout', ours, merged]);
  } catch (error) {
    throw refusedByGit(error, 'It cannot be taken back', SHOWN);
  }
  for (const [path, mode] of modes) await keepMode(path, mode);
  return names;
}

/** Who may read and write a file is as in `mode`; who may read an executable one may execute it. */
async function keepMode(path: Buffer, mode: number): Promise<void> {
  // What is gone, or another kind of file now, has no permissions to keep.
  const file = await open(path, constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined);
  try {
    const facts = await file?.stat();
    if (facts?.isFile() !== true) return;
    const executed = (facts.mode & OWNER_EXECUTES) === 0 ? 0 : (mode & ALL_READ) >> 2;
    await file?.chmod((mode & ALL_READ_WRITE) | executed);
  } finally {
    await file?.close();
  }
}

/**
 * git takes ignored files for worthless (2.34 and newer): what is where a file is to be written, and is not in the index, is found before.
 * Throws WORK_DOES_NOT_FIT.
 */
async function requireFree(git: RepositoryGit, names: readonly Buffer[]): Promise<void> {
  const folders: string[] = [];
  const others: string[] = [];
  for (const name of names) {
    const { instead } = await onDisk(git.repository.top, name);
    if (instead === undefined) continue;
    const list = instead.isFolder && isUtf8(instead.path) ? folders : others;
    list.push(instead.path.toString('utf8'));
  }
  const listed = async (which: string, paths: readonly string[]): Promise<readonly string[]> => {
    if (paths.length === 0) return [];
    return (await git.fields(['ls-files', '-z', which, '--', ...paths])).map((name) => name.toString('utf8'));
  };
  const known = await listed('--cached', others);
  const inTheWay = [
    ...others.filter((path) => !known.includes(path)),
    ...(await listed('--others', folders)),
  ];
  if (inTheWay.length > 0)
    throw doesNotFit(`Something else is where a file would be written: ${someNames(inTheWay)}.`, BY_HAND);
}

/** `ours` without what lies between `theirs` and the end of the task. */
async function mergedTree(git: RepositoryGit, end: string, ours: string, theirs: string): Promise<string> {
  const base = await git.commit(end, [], 'the end of the task\n');
  const now = await git.commit(ours, [base], 'now\n');
  const back = await git.commit(theirs, [base], 'without the task\n');
  const { tree, conflicts } = await treeOfMerge(git, now, back, PLAIN_MERGE);
  if (conflicts.length === 0) return tree;
  throw doesNotFit(
    `The same lines, or the whole of the same file, have changed since the task: ${someNames(conflicts)}.`,
    BY_HAND,
  );
}
