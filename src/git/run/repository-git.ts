import { delimiter, dirname } from 'node:path';
import { BridgeError } from '../../base/errors.js';
import type { GitSettings } from './git-settings.js';
import type { Repository } from './repository.js';
import type { GitCall, GitRunner } from './run-git.js';

/** git in one repository, for one call of a tool. */
export interface RepositoryGit {
  stream(args: readonly string[], take: (chunk: Buffer) => void): Promise<number>;
  output(
    args: readonly string[],
    answers?: readonly number[],
  ): Promise<{ readonly code: number; readonly bytes: Buffer }>;
}

export interface RepositoryCall extends Omit<GitCall, 'args'> {
  readonly settings: GitSettings;
}

/** How git is run in a repository, but for what it is asked. Throws as the runner, and NOT_A_REPOSITORY when git sees another there. */
export async function repositoryCall(
  runner: GitRunner,
  repository: Repository,
  signal: AbortSignal,
): Promise<RepositoryCall> {
  const above = dirname(repository.top);
  // git finds the repository itself, since only then it looks at who owns it; but it goes no further up than here, and
  // takes no other folder for the working tree, whatever core.worktree says.
  const environment = { GIT_CEILING_DIRECTORIES: above, GIT_WORK_TREE: repository.top };
  const where = { cwd: repository.top, signal, environment };
  const settings = await runner.settings(where);
  const base = { ...where, settings, commonDir: repository.commonDir };
  // The list of ceilings has no escape for its delimiter: where it cannot hold, git is asked what it found.
  if (above.includes(delimiter)) await checkFound(runner, base, repository);
  return base;
}

/** Throws as the runner, and NOT_A_REPOSITORY when git sees another repository there, or none. */
export async function repositoryGit(
  runner: GitRunner,
  repository: Repository,
  signal: AbortSignal,
): Promise<RepositoryGit> {
  const base = await repositoryCall(runner, repository, signal);
  const call = (args: readonly string[], answers?: readonly number[]): GitCall => ({
    ...base,
    args,
    ...(answers !== undefined && { answers }),
  });
  return {
    stream: (args, take) => runner.stream(call(args), take),
    output: (args, answers) => runner.output(call(args, answers)),
  };
}

async function checkFound(runner: GitRunner, base: RepositoryCall, repository: Repository): Promise<void> {
  const { bytes } = await runner.output({ ...base, args: ['rev-parse', '--absolute-git-dir'] });
  const found = bytes.toString('utf8').replace(/\n$/, '');
  if (found === repository.gitDir) return;
  throw new BridgeError(
    'NOT_A_REPOSITORY',
    `The .git of '${repository.top}' is not taken for a repository by git.`,
    'Repair the repository in a terminal.',
  );
}
