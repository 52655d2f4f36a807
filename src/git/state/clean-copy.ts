import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { headBytes } from '../../base/text.js';
import { repositoryAt } from '../run/repository.js';
import { nulLines, openGit, type GitDoor, type RepositoryGit } from '../run/repository-git.js';
import { objectsIn } from './kept-trees.js';

const CHANGED = ['diff-tree', '-r', '-z', '--name-status', '-M'];
const IGNORED = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z'];
const PATCH = ['diff-tree', '-r', '-p', '-M', '--no-color', '--no-ext-diff', '--no-textconv'];
const MAX_PATCH_BYTES = 8_000;
const OWNER_ONLY = 0o700;
const BRANCH = 'task';
const MAX_LINKS = 200;
/** What the bridge itself writes into projects. */
const OWN_FOLDER = /(?:^|\/)\.claude$|(?:^|\/)\.claude\//;

/** What a task began with and ended with: commits or kept trees, whose objects are in the repository or in `objects`. */
export interface WorkQuery {
  /** Top folder of the working tree. */
  readonly repository: string;
  readonly base: string;
  readonly end: string;
  readonly objects?: string | undefined;
}

/** A file that is different at the end. `from`: its name at the base, where it was moved with all or most of its lines. */
export interface ChangedName {
  readonly path: string;
  readonly change: 'new' | 'changed' | 'removed' | 'moved';
  readonly from?: string;
}

/** Reads and copies what a task did, without changing the repository or running what it names. Throws as `openGit`, and GIT_FAILED. */
export async function openWork(door: GitDoor, query: WorkQuery, signal: AbortSignal) {
  const repository = await repositoryAt(door.roots, query.repository);
  const opened = await openGit(door, repository, signal);
  const git =
    query.objects === undefined ? opened : opened.with({ environment: objectsIn(query.objects, repository) });
  return {
    changed: () => changedNames(git, query),
    ignoredFolders: () => ignoredFolders(door, query.repository, signal),
    /** Whether HEAD of the repository is another commit than the base; false for a base that is a tree. */
    isMoved: async (): Promise<boolean> =>
      (await git.text(['cat-file', '-t', query.base])) === 'commit' &&
      (await opened.text(['rev-parse', '--verify', 'HEAD'])) !== query.base,
    /** What is different in these files, as a patch, cut. */
    patch: async (names: readonly string[]) => {
      const whole = await git.text([...PATCH, query.base, query.end, '--', ...names]);
      const text = headBytes(whole, MAX_PATCH_BYTES);
      return { text, isCut: text.length < whole.length };
    },
    copy: (folder: string, side: 'base' | 'end', put?: (path: string) => boolean) =>
      copyTo(git, query, { folder, side, put }),
  };
}

/**
 * Ignored folders of the main working tree of a repository, relative to its top `from`: what was installed or built there, which no commit
 * has. Throws as `openGit`.
 */
export async function ignoredFolders(door: GitDoor, path: string, signal: AbortSignal) {
  const { top, commonDir } = await repositoryAt(door.roots, path);
  const from = basename(commonDir) === '.git' ? dirname(commonDir) : top;
  const git = await openGit(door, await repositoryAt(door.roots, from), signal);
  const names = (await git.fields(IGNORED)).map((name) => name.toString('utf8'));
  const folders = names.filter((name) => name.endsWith('/')).map((name) => name.slice(0, -1));
  return { from, names: folders.filter((name) => !OWN_FOLDER.test(name)).slice(0, MAX_LINKS) };
}

async function changedNames(git: RepositoryGit, { base, end }: WorkQuery): Promise<ChangedName[]> {
  const fields = (await git.fields([...CHANGED, base, end])).map((field) => field.toString('utf8'));
  const found: ChangedName[] = [];
  for (let at = 0; at + 1 < fields.length;) {
    const [status = '', first = '', second = ''] = fields.slice(at, at + 3);
    const isMove = status.startsWith('R');
    at += isMove ? 3 : 2;
    if (isMove) found.push({ path: second, change: 'moved', from: first });
    else found.push({ path: first, change: status === 'A' ? 'new' : status === 'D' ? 'removed' : 'changed' });
  }
  return found;
}

/** Those in a folder of the repository, relative to it; what came from outside of it is new there. */
export function changesIn(changes: readonly ChangedName[], within = ''): readonly ChangedName[] {
  if (within === '') return changes;
  const isIn = (path: string): boolean => path.startsWith(`${within}/`);
  const inside = (path: string): string => path.slice(within.length + 1);
  return changes.flatMap(({ path, change, from }) => {
    // What was moved out of it is no longer there.
    if (!isIn(path))
      return from !== undefined && isIn(from) ? [{ path: inside(from), change: 'removed' }] : [];
    if (from === undefined) return [{ path: inside(path), change }];
    return [
      isIn(from) ? { path: inside(path), change, from: inside(from) } : { path: inside(path), change: 'new' },
    ];
  });
}

/**
 * Makes a repository of its own in `folder`, which does not exist yet, with the files of one side as its only branch; `put`: of which
 * files it has those of the end. It borrows the objects of the other repository. No filter runs: files of git-lfs are as git stores them.
 */
async function copyTo(
  git: RepositoryGit,
  { base, end, objects }: WorkQuery,
  {
    folder,
    side,
    put,
  }: {
    readonly folder: string;
    readonly side: 'base' | 'end';
    readonly put: ((path: string) => boolean) | undefined;
  },
): Promise<void> {
  const gitDir = join(folder, '.git');
  const own = join(gitDir, 'objects');
  await mkdir(join(own, 'info'), { recursive: true, mode: OWNER_ONLY });
  await mkdir(join(gitDir, 'refs', 'heads'), { recursive: true });
  const stores = [join(git.repository.commonDir, 'objects'), ...(objects === undefined ? [] : [objects])];
  await writeFile(join(own, 'info', 'alternates'), `${stores.join('\n')}\n`);
  const format = await git.text(['rev-parse', '--show-object-format']);
  const version = format === 'sha1' ? 0 : 1;
  const extension = version === 0 ? '' : `[extensions]\n\tobjectFormat = ${format}\n`;
  await writeFile(join(gitDir, 'config'), `[core]\n\trepositoryFormatVersion = ${version}\n${extension}`);
  await writeFile(join(gitDir, 'HEAD'), `ref: refs/heads/${BRANCH}\n`);
  const writing = git.changing().with({
    environment: {
      GIT_OBJECT_DIRECTORY: own,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: stores
        .map((store) => `"${store.replaceAll(/["\\]/g, '\\$&')}"`)
        .join(':'),
      GIT_INDEX_FILE: join(gitDir, 'index'),
    },
  });
  await writing.text(['read-tree', side === 'base' ? base : end]);
  if (put !== undefined) {
    const lines: Buffer[] = [];
    for (const entry of await writing.fields(['ls-tree', '-r', '-z', end])) {
      const at = entry.indexOf('\t');
      const [mode = '', , object = ''] = entry.toString('latin1', 0, at).split(' ');
      if (put(entry.toString('utf8', at + 1)))
        lines.push(Buffer.concat([Buffer.from(`${mode} ${object}`), entry.subarray(at)]));
    }
    await writing.output(['update-index', '-z', '--index-info'], { input: nulLines(lines) });
  }
  const tree = await writing.text(['write-tree']);
  const isCommit = (await git.text(['cat-file', '-t', base])) === 'commit';
  const commit = await writing.commit(tree, isCommit ? [base] : [], 'The work of a task.\n');
  await writeFile(join(gitDir, 'refs', 'heads', BRANCH), `${commit}\n`);
  await writing.text(['checkout-index', '--all', '--force', `--prefix=${folder}/`]);
}
