import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { GitService, type GitParts } from '../../src/git/git-service.js';
import type { GitContext } from '../../src/git/run/git-settings.js';
import { GitRunner } from '../../src/git/run/run-git.js';
import { ActiveProject } from '../../src/projects/active-project.js';
import { AllowedRoots } from '../../src/projects/allowed-roots.js';
import { tempFolder } from '../harness/temp-folder.js';

const run = promisify(execFile);
const never = new AbortController().signal;

/** A home, an allowed root with one repository in it, and room outside, all of one test's own. */
export interface GitPlace {
  readonly root: string;
  readonly homeDir: string;
  readonly projects: string;
  /** Top of the repository. */
  readonly repo: string;
  /** What git sees of the environment. */
  readonly context: GitContext;
  readonly service: GitService;
  /** What the service is made of. */
  readonly parts: GitParts;
  readonly runner: GitRunner;
  /** Plain git, as a person with no settings runs it. */
  git(...args: string[]): Promise<string>;
  gitIn(cwd: string, ...args: string[]): Promise<string>;
  /** Commits all that there is, in the repository where no other one is named. */
  commit(message: string, cwd?: string): Promise<void>;
  write(file: string, content: string | Uint8Array): Promise<void>;
  readonly target: (path?: string) => { readonly path: string; readonly signal: AbortSignal };
}

export interface GitPlaceOptions {
  readonly maxDiffBytes?: number;
  readonly timeLimitMs?: number;
  /** Folder with the git to use; the one on PATH when left out. */
  readonly gitFolder?: string | undefined;
}

export async function gitPlace({
  maxDiffBytes = 51_200,
  timeLimitMs,
  gitFolder,
}: GitPlaceOptions = {}): Promise<GitPlace> {
  const root = await tempFolder();
  const [homeDir, projects, repo] = [join(root, 'home'), join(root, 'p'), join(root, 'p', 'repo')];
  for (const folder of [homeDir, projects, repo]) await mkdir(folder);
  const path = [gitFolder, process.env['PATH']].filter(Boolean).join(delimiter);
  const env = { HOME: homeDir, PATH: path, LC_ALL: 'C', GIT_CONFIG_NOSYSTEM: '1' };
  const gitIn = async (cwd: string, ...args: string[]): Promise<string> => {
    const fixed = ['-c', 'user.name=N', '-c', 'user.email=n@example.com', '-c', 'protocol.file.allow=always'];
    const git = gitFolder === undefined ? 'git' : join(gitFolder, 'git');
    const running = run(git, [...fixed, ...args], { cwd, env, maxBuffer: 100_000_000, timeout: 10_000 });
    // What git runs may read its input, which would have no end.
    running.child.stdin?.end();
    return (await running).stdout;
  };
  const write = async (file: string, content: string | Uint8Array): Promise<void> => {
    await mkdir(dirname(join(repo, file)), { recursive: true });
    await writeFile(join(repo, file), content);
  };
  await gitIn(repo, 'init', '--quiet', '--initial-branch=main');
  const roots = new AllowedRoots([projects], homeDir);
  const context = { path, homeDir, xdgConfigHome: undefined };
  const runner = new GitRunner(context, timeLimitMs);
  const parts: GitParts = { roots, activeProject: new ActiveProject(roots), runner, maxDiffBytes };
  const service = new GitService(parts);
  return {
    root,
    homeDir,
    context,
    projects,
    repo,
    service,
    parts,
    runner,
    gitIn,
    git: (...args) => gitIn(repo, ...args),
    commit: async (message, cwd = repo) => {
      await gitIn(cwd, 'add', '--all');
      await gitIn(cwd, 'commit', '--quiet', '-m', message);
    },
    write,
    target: (asked = repo) => ({ path: asked, signal: never }),
  };
}
