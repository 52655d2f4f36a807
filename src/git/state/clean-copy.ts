import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { headBytes } from '../../base/text.js';
import { findRepository, repositoryAt } from '../run/repository.js';
import { nulLines, openGit, type GitDoor, type RepositoryGit } from '../run/repository-git.js';
import { objectsIn } from './kept-trees.js';

const CHANGES = ['diff-tree', '-r', '-z', '--name-status', '-M'];
const IGNORED = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z'];
const PATCH = ['diff-tree', '-r', '-p', '-M', '--no-color', '--no-ext-diff', '--no-textconv'];
const MAX_PATCH_BYTES = 8_000;
const OWNER_ONLY = 0o700;
const BRANCH = 'refs/heads/task';
const MAX_LINKS = 200;
/** What the bridge itself writes into projects. */
const OWN_FOLDER = /(?:^|\/)\.claude$|(?:^|\/)\.claude\//;

/** What a task began with and ended with: commits or kept trees, whose objects are in the repository or in `objects`. */
export interface WorkQuery {
  /** The project: the top of a repository, or a folder of one. */
  readonly folder: string;
  readonly base: string;
  readonly end: string;
  readonly objects?: string | undefined;
}

/** A file by its names at the base and at the end: one that is new or gone has one of them, and one that was moved two. */
export interface Change {
  readonly before?: string;
  readonly after?: string;
}

/** Reads and copies what a task did, without changing the repository or running what it names. Throws as `openGit`, and GIT_FAILED. */
export async function openWork(
  door: GitDoor,
  { folder, base, end, objects }: WorkQuery,
  signal: AbortSignal,
) {
  const repository = await findRepository(door.roots, await door.roots.resolve(folder));
  const { within = '' } = repository;
  const opened = await openGit(door, repository, signal);
  const git = objects === undefined ? opened : opened.with({ environment: objectsIn(objects, repository) });
  const stores = [join(repository.commonDir, 'objects'), ...(objects === undefined ? [] : [objects])];
  const isCommit = async (): Promise<boolean> => (await git.text(['cat-file', '-t', base])) === 'commit';
  return {
    /** Of the project in the repository; empty for its top. */
    within,
    /** In the project, relative to it: what came from outside of it is new there, and what left it is gone. */
    changes: () => changesBetween(git, [...(within === '' ? [] : [`--relative=${within}/`]), base, end]),
    /** In all of the repository. */
    allChanges: () => changesBetween(git, [base, end]),
    /** Whether HEAD of the repository is another commit than the base; false for a base that is a tree. */
    isMoved: async () =>
      (await isCommit()) && (await opened.text(['rev-parse', '--verify', 'HEAD'])) !== base,
    /** What is different in these files of the project, as a patch, cut. */
    patch: async (names: readonly string[]) => {
      const whole = await git.text([...PATCH, base, end, '--', ...names.map((name) => join(within, name))]);
      const text = headBytes(whole, MAX_PATCH_BYTES);
      return { text, isCut: text.length < whole.length };
    },
    /**
     * Makes a repository in a folder that does not exist yet, with one branch of one commit, and its files: those of the end, or of the base
     * with those of the end that `put` names. No filter runs: files of git-lfs are as git stores them.
     */
    copy: async (to: string, put?: ReadonlySet<string>): Promise<void> => {
      const parents = (await isCommit()) ? [base] : [];
      const gitDir = join(to, '.git');
      await makeRepository(gitDir, stores, await git.text(['rev-parse', '--show-object-format']));
      const environment = {
        GIT_OBJECT_DIRECTORY: join(gitDir, 'objects'),
        GIT_INDEX_FILE: join(gitDir, 'index'),
      };
      const writing = git.changing().with({ environment });
      await writing.text(['read-tree', put === undefined ? end : base]);
      const files = put === undefined ? [] : await git.fields(['ls-tree', '-r', '-z', end]);
      const lines = files.filter((entry) => put?.has(entry.toString('utf8', entry.indexOf('\t') + 1)));
      await writing.output(['update-index', '-z', '--index-info'], { input: nulLines(lines) });
      const tree = await writing.text(['write-tree']);
      const commit = await writing.commit(tree, parents, 'The work of a task.\n');
      await writeFile(join(gitDir, BRANCH), `${commit}\n`);
      await writing.text(['checkout-index', '--all', '--force', `--prefix=${to}/`]);
    },
  };
}

/**
 * Ignored folders of the main working tree of a repository, relative to its top `from`: what was installed or built there, which no commit
 * has. `path`: in the repository. Throws as `openGit`.
 */
export async function ignoredFolders({ roots, runner }: GitDoor, path: string, signal: AbortSignal) {
  const { top, commonDir } = await findRepository(roots, await roots.resolve(path));
  const from = basename(commonDir) === '.git' ? dirname(commonDir) : top;
  const git = await openGit({ roots, runner }, await repositoryAt(roots, from), signal);
  const names = (await git.fields(IGNORED)).map((name) => name.toString('utf8'));
  const folders = names.filter((name) => name.endsWith('/')).map((name) => name.slice(0, -1));
  return { from, names: folders.filter((name) => !OWN_FOLDER.test(name)).slice(0, MAX_LINKS) };
}

async function changesBetween(git: RepositoryGit, args: readonly string[]): Promise<readonly Change[]> {
  const fields = (await git.fields([...CHANGES, ...args])).map((field) => field.toString('utf8'));
  const found: Change[] = [];
  for (let at = 0; at + 1 < fields.length;) {
    const [status = '', before = '', after = ''] = fields.slice(at, at + 3);
    const isMove = status.startsWith('R');
    at += isMove ? 3 : 2;
    if (isMove) found.push({ before, after });
    else found.push({ ...(status !== 'A' && { before }), ...(status !== 'D' && { after: before }) });
  }
  return found;
}

/** An empty repository that borrows the objects of `stores`. */
async function makeRepository(gitDir: string, stores: readonly string[], format: string): Promise<void> {
  await mkdir(join(gitDir, 'objects', 'info'), { recursive: true, mode: OWNER_ONLY });
  await mkdir(dirname(join(gitDir, BRANCH)), { recursive: true });
  const [version, extension] =
    format === 'sha1' ? [0, ''] : [1, `[extensions]\n\tobjectFormat = ${format}\n`];
  await writeFile(join(gitDir, 'config'), `[core]\n\trepositoryFormatVersion = ${version}\n${extension}`);
  await writeFile(join(gitDir, 'HEAD'), `ref: ${BRANCH}\n`);
  await writeFile(join(gitDir, 'objects', 'info', 'alternates'), `${stores.join('\n')}\n`);
}
