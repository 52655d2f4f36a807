import { delimiter, dirname } from 'node:path';
import { BridgeError } from '../../base/errors.js';
import type { TakeChunk } from '../../os/run-program.js';
import type { GitSettings } from './git-settings.js';
import type { Repository } from './repository.js';
import type { GitCall, GitRunner } from './run-git.js';

/** Runs git in one repository, for one tool call. */
export interface RepositoryGit {
  stream(args: readonly string[], take: TakeChunk): Promise<number>;
  output(
    args: readonly string[],
    okCodes?: readonly number[],
  ): Promise<{ readonly code: number; readonly bytes: Buffer }>;
}

export interface RepositoryCall extends Omit<GitCall, 'args'> {
  readonly settings: GitSettings;
}

/** The options for running git in a repository. Throws like the runner, and NOT_A_REPOSITORY when git finds another one there. */
export async function repositoryCall(
  runner: GitRunner,
  repository: Repository,
  signal: AbortSignal,
): Promise<RepositoryCall> {
  const above = dirname(repository.top);
  // git must find the repository itself, since only then it checks the owner. The environment keeps it from searching further
  // up, and from using another working tree that core.worktree names.
  const environment = { GIT_CEILING_DIRECTORIES: above, GIT_WORK_TREE: repository.top };
  const where = { cwd: repository.top, signal, environment };
  const settings = await runner.settings(where);
  const base = { ...where, settings, commonDir: repository.commonDir };
  // GIT_CEILING_DIRECTORIES has no escape for its delimiter. For a path that contains it, git is asked which repository it found.
  if (above.includes(delimiter)) await checkFound(runner, base, repository);
  return base;
}

/** Throws like the runner, and NOT_A_REPOSITORY when git finds another repository there, or none. */
export async function repositoryGit(
  runner: GitRunner,
  repository: Repository,
  signal: AbortSignal,
): Promise<RepositoryGit> {
  const base = await repositoryCall(runner, repository, signal);
  const call = (args: readonly string[], okCodes?: readonly number[]): GitCall => ({
    ...base,
    args,
    ...(okCodes !== undefined && { okCodes }),
  });
  return {
    stream: (args, take) => runner.stream(call(args), take),
    output: (args, okCodes) => runner.output(call(args, okCodes)),
  };
}

async function checkFound(runner: GitRunner, base: RepositoryCall, repository: Repository): Promise<void> {
  const { bytes } = await runner.output({ ...base, args: ['rev-parse', '--absolute-git-dir'] });
  const found = bytes.toString('utf8').replace(/\n$/, '');
  if (found === repository.gitDir) return;
  throw new BridgeError(
    'NOT_A_REPOSITORY',
    `The .git of '${repository.top}' is not a repository for git.`,
    'Repair the repository in a terminal.',
  );
}
