import { BridgeError } from '../../base/errors.js';
import type { AllowedRoots } from '../../projects/allowed-roots.js';
import { readNewRepository, readProjectChanges, type ProjectChanges } from './project-changes.js';
import { readProjectState, type ProjectState } from './project-state.js';
import { findRepository, type RepositoryPath } from '../run/repository.js';
import { repositoryGit, type RepositoryGit } from '../run/repository-git.js';
import { commitIfAny } from '../revision.js';
import type { GitRunner } from '../run/run-git.js';

/** A name of a commit, whole or shortened; nothing that git could take for anything else. */
const COMMIT_NAME = /^[0-9a-f]{4,64}$/;

export type SnapshotOutcome<T> =
  | ({ readonly state: 'repository' } & T)
  /** The project is in no repository that may be looked at. */
  | { readonly state: 'none'; readonly why: string };

/** Two looks at the repository of a project, and what is different between them. Throws GIT_FAILED and GIT_NOT_FOUND. */
export class ProjectSnapshots {
  readonly #roots: AllowedRoots;
  readonly #runner: GitRunner;

  constructor(parts: { readonly roots: AllowedRoots; readonly runner: GitRunner }) {
    this.#roots = parts.roots;
    this.#runner = parts.runner;
  }

  async before(projectPath: string, signal: AbortSignal): Promise<SnapshotOutcome<ProjectState>> {
    return this.#look(projectPath, signal, (git, at) => readProjectState(git, at));
  }

  /**
   * `before` is undefined where there was no repository at the first look; then the commits of a new one are told, and not
   * which files are new: they may have been there. `sinceMs`: milliseconds since the epoch at the first look.
   */
  async after(
    projectPath: string,
    before: ProjectState | undefined,
    sinceMs: number,
    signal: AbortSignal,
  ): Promise<SnapshotOutcome<ProjectChanges>> {
    return this.#look(projectPath, signal, async (git, at) => {
      if (before === undefined) return readNewRepository(git, at, sinceMs);
      if (at.repository.top === before.repository) return readProjectChanges(git, at, before, sinceMs);
      throw new BridgeError(
        'NOT_A_REPOSITORY',
        `The project is in another repository now: '${at.repository.top}' instead of '${before.repository}'.`,
        'Look at it with git_status and git_log.',
      );
    });
  }

  /** Whether the repository has a commit of that name, whole or shortened. */
  async hasCommit(projectPath: string, name: string, signal: AbortSignal): Promise<boolean> {
    if (!COMMIT_NAME.test(name)) return false;
    const found = await this.#look(projectPath, signal, async (git) => ({
      commit: await commitIfAny(git, name),
    }));
    return found.state === 'repository' && found.commit !== undefined;
  }

  async #look<T>(
    projectPath: string,
    signal: AbortSignal,
    read: (git: RepositoryGit, at: RepositoryPath) => Promise<T>,
  ): Promise<SnapshotOutcome<T>> {
    try {
      const at = await findRepository(this.#roots, await this.#roots.resolve(projectPath));
      const git = await repositoryGit(this.#runner, at.repository, signal);
      return { state: 'repository', ...(await read(git, at)) };
    } catch (thrown) {
      const isNone =
        thrown instanceof BridgeError &&
        (thrown.code === 'NOT_A_REPOSITORY' || thrown.code === 'PATH_NOT_ALLOWED');
      if (isNone) return { state: 'none', why: thrown.message };
      throw thrown;
    }
  }
}
