import { BridgeError } from '../../base/errors.js';
import type { AllowedRoots } from '../../projects/allowed-roots.js';
import { readNewRepository, readProjectChanges, type ProjectChanges } from './project-changes.js';
import { readProjectState, type ProjectState } from './project-state.js';
import { findRepository, type RepositoryPath } from '../run/repository.js';
import { repositoryGit, type RepositoryGit } from '../run/repository-git.js';
import type { GitRunner } from '../run/run-git.js';

export type SnapshotOutcome<T> =
  | ({ readonly state: 'repository' } & T)
  /** The project is not in an accessible repository. */
  | { readonly state: 'none'; readonly why: string };

/** Takes two snapshots of a project's repository and compares them. Throws GIT_FAILED and GIT_NOT_FOUND. */
export class ProjectSnapshots {
  readonly #roots: AllowedRoots;
  readonly #runner: GitRunner;

  constructor(parts: { readonly roots: AllowedRoots; readonly runner: GitRunner }) {
    this.#roots = parts.roots;
    this.#runner = parts.runner;
  }

  async before(projectPath: string, signal: AbortSignal): Promise<SnapshotOutcome<ProjectState>> {
    return this.#read(projectPath, signal, (git, at) => readProjectState(git, at));
  }

  /**
   * `before` is undefined when the first snapshot found no repository; then only commits of a new one are reported, not its files,
   * which may have existed before. `sinceMs` is the time of the first snapshot in milliseconds since the epoch.
   */
  async after(
    projectPath: string,
    before: ProjectState | undefined,
    sinceMs: number,
    signal: AbortSignal,
  ): Promise<SnapshotOutcome<ProjectChanges>> {
    return this.#read(projectPath, signal, async (git, at) => {
      if (before === undefined) return readNewRepository(git, at, sinceMs);
      if (at.repository.top === before.repository) return readProjectChanges(git, at, before, sinceMs);
      throw new BridgeError(
        'NOT_A_REPOSITORY',
        `The project is in another repository now: '${at.repository.top}' instead of '${before.repository}'.`,
        'Inspect it with git_status and git_log.',
      );
    });
  }

  async #read<T>(
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
