import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ProjectExplorer } from '../../src/files/project-explorer.js';
import { queryEnvironment, type GitContext } from '../../src/git/run/git-settings.js';
import { GitRunner } from '../../src/git/run/run-git.js';
import { ActiveProject } from '../../src/projects/active-project.js';
import { AllowedRoots } from '../../src/projects/allowed-roots.js';
import { PathOpener } from '../../src/projects/path-opener.js';

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 100_000_000;

/** The environment of git in tests: no settings of the user. */
const noUser: GitContext = { path: process.env['PATH'], homeDir: '/nonexistent', xdgConfigHome: undefined };
export const plainGit = queryEnvironment(noUser);

export interface ExplorerChoices {
  readonly defaultDepth?: number;
  /** A program instead of ripgrep. */
  readonly ripgrep?: string;
  readonly searchLimitMs?: number;
  readonly host?: GitContext;
}

export function explorerOf(
  root: string,
  { defaultDepth = 1, host = noUser, ...others }: ExplorerChoices = {},
): ProjectExplorer {
  const roots = new AllowedRoots([root], '/nonexistent');
  return new ProjectExplorer({
    opener: new PathOpener(roots),
    roots,
    activeProject: new ActiveProject(roots),
    git: new GitRunner(host),
    env: queryEnvironment(host),
    defaultDepth,
    ...others,
  });
}

export async function git(cwd: string, ...args: string[]): Promise<string> {
  const env = {
    ...plainGit,
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b',
  };
  return (await run('git', args, { cwd, env, maxBuffer: MAX_OUTPUT_BYTES })).stdout;
}

/** Writes files by their paths; a path that ends with `/` is an empty folder. */
export async function writeTree(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    if (path.endsWith('/')) {
      await mkdir(join(root, path), { recursive: true });
      continue;
    }
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

export const never = new AbortController().signal;
