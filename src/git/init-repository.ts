import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { withTempFolder } from '../base/files/folders.js';
import { oneLine } from '../base/text.js';
import type { AllowedPath } from '../projects/allowed-roots.js';
import { shownBytes } from './diff/patch-text.js';
import { gitOf, repositoryAbove, repositoryAt } from './run/repository.js';
import { openGit, type GitDoor } from './run/repository-git.js';
import { GitAt } from './run/run-git.js';

export interface InitQuery {
  readonly initialBranch?: string | undefined;
  /** True writes a .gitignore unless one exists. */
  readonly gitignore?: boolean | undefined;
}

const MAX_BRANCH_CHARS = 200;
const SHOWN_CHARS = 100;

const COMMON_PATTERNS =
  'node_modules/ __pycache__/ *.pyc .venv/ .env .env.* !.env.example *.log .DS_Store Thumbs.db'.split(' ');

/** Creates the repository unless there is one. Throws INVALID_ARGUMENTS for a bad branch name, and like `gitOf`. */
export async function initRepository(
  door: GitDoor,
  folder: AllowedPath,
  query: InitQuery,
  signal: AbortSignal,
) {
  const { initialBranch } = query;
  if (initialBranch !== undefined) await checkBranch(door, folder, initialBranch, signal);
  const found = await gitOf(door.roots, folder);
  if (found === undefined) await createRepository(door, folder, initialBranch, signal);
  const repository = found ?? (await repositoryAt(door.roots, folder));
  const git = await openGit(door, repository, signal, true);
  const { code, bytes } = await git.output(['symbolic-ref', '--quiet', '--short', 'HEAD'], {
    okCodes: [0, 1],
  });
  return {
    path: folder,
    /** False when the folder already was the top of a repository. */
    initialized: found === undefined,
    branch: code === 0 ? shownBytes(bytes).text.trimEnd() : null,
    /** Folder of the repository that contains this one. */
    parentRepository: await repositoryAbove(folder),
    gitignore: query.gitignore === true ? await writeIgnoreFile(folder) : undefined,
  };
}

async function createRepository(
  { runner }: GitDoor,
  folder: AllowedPath,
  initialBranch: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const gitDir = join(folder, '.git');
  // `mkdir` fails if anything has this name by now, even a dangling link.
  await mkdir(gitDir);
  const branch = initialBranch === undefined ? [] : [`--initial-branch=${initialBranch}`];
  // git creates the repository elsewhere: a program could write settings into `gitDir` before git reads them.
  try {
    await withTempFolder('claude-code-bridge-git-', async (scratch) => {
      const settings = await runner.settings({ cwd: scratch, signal });
      const environment = { GIT_COMMON_DIR: join(scratch, '.git') };
      const git = new GitAt(runner, { cwd: scratch, signal, settings, environment });
      await git.output(['init', '--quiet', ...branch, '.']);
      await cp(join(scratch, '.git'), gitDir, { recursive: true, force: false, errorOnExist: false });
    });
  } catch (thrown) {
    await rm(gitDir, { recursive: true, force: true });
    throw thrown;
  }
}

async function checkBranch(
  { runner }: GitDoor,
  folder: AllowedPath,
  branch: string,
  signal: AbortSignal,
): Promise<void> {
  const isValid = branch.length > 0 && branch.length <= MAX_BRANCH_CHARS && !/^-|\0|^@$/.test(branch);
  if (isValid) {
    const git = new GitAt(runner, { cwd: folder, signal });
    const args = ['check-ref-format', `refs/heads/${branch}`];
    if ((await git.output(args, { okCodes: [0, 1] })).code === 0) return;
  }
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `'${oneLine(branch, SHOWN_CHARS)}' is not a valid branch name.`,
    'Use a name such as main.',
  );
}

async function writeIgnoreFile(folder: AllowedPath): Promise<'written' | 'kept'> {
  try {
    // `wx` fails if anything has this name, and follows no link.
    await writeFile(join(folder, '.gitignore'), `${COMMON_PATTERNS.join('\n')}\n`, { flag: 'wx' });
    return 'written';
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'EEXIST') return 'kept';
    throw thrown;
  }
}
