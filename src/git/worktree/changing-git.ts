import { BridgeError } from '../../base/errors.js';
import type { GitSettings, Setting } from '../run/git-settings.js';
import type { Repository } from '../run/repository.js';
import { withPlainIndex } from '../run/plain-index.js';
import {
  gitWith,
  repositoryCall,
  type GitOptions,
  type RepositoryCall,
  type RepositoryGit,
} from '../run/repository-git.js';
import type { GitRunner } from '../run/run-git.js';

/** Enough to write a working tree of a hundred thousand files. */
const CHANGE_LIMIT_MS = 35_000;
/** Author of commits when the user's git settings contain no name. */
const NAME_WITHOUT_SETTINGS = 'claude-code-bridge';

/** Runs git commands that change one repository: as safe as `RepositoryGit`, and no merge driver runs either. */
export interface ChangingGit extends RepositoryGit {
  /** True when the settings define filters, none of which runs. */
  readonly hasFilters: boolean;
  /** The output without its last line end. Throws for every exit code except 0. */
  text(args: readonly string[], options?: GitOptions): Promise<string>;
  /** Runs `act` with an index of its own: see `withPlainIndex`. */
  withPlainIndex<T>(act: (git: ChangingGit) => Promise<T>): Promise<T>;
  /** Creates a commit of a tree, with the author from the user's git settings. */
  commit(tree: string, parents: readonly string[], message: string): Promise<string>;
}

/** Throws like `repositoryGit`. */
export async function changingGit(
  runner: GitRunner,
  repository: Repository,
  signal: AbortSignal,
  environment: Readonly<Record<string, string>> = {},
): Promise<ChangingGit> {
  const base = await repositoryCall(runner, repository, signal);
  return changingWith(runner, repository, {
    ...base,
    settings: withoutMergeDrivers(base.settings),
    environment: { ...base.environment, ...environment },
  });
}

function changingWith(runner: GitRunner, repository: Repository, base: RepositoryCall): ChangingGit {
  const git = gitWith(runner, { ...base, timeLimitMs: CHANGE_LIMIT_MS, changes: true });
  const text: ChangingGit['text'] = async (args, options) =>
    (await git.output(args, options)).text.replace(/\n$/, '');
  return {
    ...git,
    hasFilters: base.settings.filters.length > 0,
    text,
    withPlainIndex: (act) =>
      withPlainIndex(runner, base, repository, (plain) => act(changingWith(runner, repository, plain))),
    commit: async (tree, parents, message) =>
      text(['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'], {
        input: Buffer.from(message),
        environment: await nameIfNone(git),
      }),
  };
}

/** Replaces merge drivers with one that fails, which makes a conflict; without a driver git would merge by lines. */
function withoutMergeDrivers(settings: GitSettings): GitSettings {
  const failing = settings.mergeDrivers.map((name): Setting => [`merge.${name}.driver`, 'false']);
  return { ...settings, others: [...settings.others, ...failing] };
}

/** A name for the author and committer if git has none, without which it refuses to commit. */
async function nameIfNone(git: RepositoryGit): Promise<Record<string, string>> {
  const { code } = await git.output(['var', 'GIT_COMMITTER_IDENT'], { okCodes: [0, 1, 128] });
  if (code === 0) return {};
  const email = `${NAME_WITHOUT_SETTINGS}@localhost`;
  return {
    GIT_AUTHOR_NAME: NAME_WITHOUT_SETTINGS,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: NAME_WITHOUT_SETTINGS,
    GIT_COMMITTER_EMAIL: email,
  };
}

/** The error when work cannot be brought into the project; nothing was changed. */
export function doesNotFit(message: string, hint: string): BridgeError {
  return new BridgeError('WORK_DOES_NOT_FIT', message, hint);
}
