import { delimiter, dirname, join } from 'node:path';
import { BridgeError } from '../../base/errors.js';
import type { TakeChunk } from '../../os/run-program.js';
import { NulFields, unreadable } from '../nul-fields.js';
import type { GitSettings } from './git-settings.js';
import { bareError, type Repository } from './repository.js';
import type { GitCall, GitRunner } from './run-git.js';

/** More files than one task changes. */
const MAX_FIELDS = 200_000;

export type GitOptions = Pick<GitCall, 'okCodes' | 'input' | 'environment'>;

/** Runs git in one repository, for one tool call. */
export interface RepositoryGit {
  stream(args: readonly string[], take: TakeChunk, options?: GitOptions): Promise<number>;
  output(
    args: readonly string[],
    options?: GitOptions,
  ): Promise<{ readonly code: number; readonly bytes: Buffer; readonly text: string }>;
  /** The NUL-separated fields of the output. */
  fields(args: readonly string[], options?: GitOptions): Promise<readonly Buffer[]>;
  /**
   * Those of `names` that git compares and writes through a filter, such as git-lfs: attributes name one that the settings define.
   * The bridge runs none.
   */
  filtered<Name extends string | Buffer>(names: readonly Name[]): Promise<readonly Name[]>;
}

export interface RepositoryCall extends Omit<GitCall, 'args'> {
  readonly settings: GitSettings;
}

/**
 * The options for running git in a repository. Throws like the runner, also where git itself does not take the repository, and
 * NOT_A_REPOSITORY when git finds another one there or, unless `isBareEnough`, no working tree or one elsewhere.
 */
export async function repositoryCall(
  runner: GitRunner,
  repository: Repository,
  signal: AbortSignal,
  isBareEnough = false,
): Promise<RepositoryCall> {
  const above = dirname(repository.top);
  // git must find the repository itself, since only then it checks the owner. The environment keeps it from searching further
  // up, and from using another working tree that core.worktree names.
  const found = { cwd: repository.top, signal, environment: { GIT_CEILING_DIRECTORIES: above } };
  // In a bare repository the folder is given to git, since it does not look for one there.
  const bare = repository.top === repository.gitDir && { GIT_DIR: repository.gitDir };
  const where = { ...found, environment: { ...found.environment, GIT_WORK_TREE: repository.top, ...bare } };
  const [settings, seen] = await Promise.all([runner.settings(where), runner.topOf(found)]);
  if (seen.isBare && !isBareEnough)
    throw await bareError(`'${repository.top}' is the top of a bare repository`, repository.commonDir);
  if (!seen.isTop && !isBareEnough)
    throw notHere(
      `The settings of the repository at '${repository.top}' (core.worktree) name another folder for its files.`,
      'Inspect it in a terminal: git rev-parse --show-toplevel names the folder. git_log and git_show work here.',
    );
  // GIT_CEILING_DIRECTORIES has no escape for its delimiter. For a path that contains it, the repository may be another one.
  if (above.includes(delimiter) && ![repository.gitDir, join(repository.top, '.git')].includes(seen.gitDir))
    throw notHere(
      `The .git of '${repository.top}' is not a repository for git.`,
      'Repair the repository in a terminal.',
    );
  return { ...where, settings, commonDir: repository.commonDir };
}

function notHere(message: string, hint: string): BridgeError {
  return new BridgeError('NOT_A_REPOSITORY', message, hint);
}

/** Throws like `repositoryCall`. */
export async function repositoryGit(
  runner: GitRunner,
  repository: Repository,
  signal: AbortSignal,
  isBareEnough = false,
): Promise<RepositoryGit> {
  return gitWith(runner, await repositoryCall(runner, repository, signal, isBareEnough));
}

/** Runs git with the options of `base` besides those of each run. */
export function gitWith(runner: GitRunner, base: RepositoryCall): RepositoryGit {
  const stream: RepositoryGit['stream'] = (args, take, options = {}) =>
    runner.stream(
      { ...base, ...options, args, environment: { ...base.environment, ...options.environment } },
      take,
    );
  const fields: RepositoryGit['fields'] = async (args, options) => {
    const found: Buffer[] = [];
    const split = new NulFields((field) => {
      if (found.length >= MAX_FIELDS) throw unreadable(`more than ${MAX_FIELDS} names`);
      found.push(Buffer.from(field));
    });
    await stream(args, (chunk) => split.push(chunk), options);
    split.end();
    return found;
  };
  return {
    stream,
    fields,
    output: async (args, options = {}) => {
      const environment = { ...base.environment, ...options.environment };
      const { code, bytes } = await runner.output({ ...base, ...options, args, environment });
      return { code, bytes, text: bytes.toString('utf8') };
    },
    filtered: async (names) => {
      const defined = new Set(base.settings.filters);
      if (defined.size === 0 || names.length === 0) return [];
      const input = Buffer.concat(names.flatMap((name) => [Buffer.from(name), Buffer.from([0])]));
      const found = await fields(['check-attr', '-z', '--stdin', 'filter'], { input });
      return names.filter((_, at) => defined.has(found[3 * at + 2]?.toString('utf8') ?? ''));
    },
  };
}
