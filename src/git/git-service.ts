import { stat } from 'node:fs/promises';
import type { Clock } from '../base/clock.js';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedPath, AllowedRoots } from '../projects/allowed-roots.js';
import { readChanges, type Changes, type ChangesQuery } from './changes.js';
import { readDiffStat, type DiffStat } from './diff-stat.js';
import { initRepository, type InitQuery, type InitReport } from './init-repository.js';
import { readHistory, type History, type HistoryQuery } from './history.js';
import { ObjectStores } from './object-stores.js';
import { findRepository, type RepositoryPath } from './repository.js';
import { repositoryGit, type RepositoryGit } from './repository-git.js';
import type { GitRunner } from './run-git.js';
import { readCommit, type Commit, type CommitQuery } from './show-commit.js';
import { readStatus, type Status } from './status.js';

export interface GitParts {
  readonly roots: AllowedRoots;
  readonly activeProject: ActiveProject;
  readonly runner: GitRunner;
  readonly clock: Clock;
  /** Size of a page of a patch when the call names none. */
  readonly maxDiffBytes: number;
}

/** What a call is about; the active project when it names no path. */
export interface GitTarget {
  readonly path: string | undefined;
  readonly signal: AbortSignal;
}

export interface Located {
  readonly path: string;
  /** Top folder of the repository: names of files are relative to it. */
  readonly repository: string;
}

/**
 * Looks at repositories in the allowed roots without running anything that they name. Every method throws the errors of
 * AllowedRoots, NOT_A_REPOSITORY, GIT_NOT_FOUND, and GIT_FAILED with git's own words.
 */
export class GitService {
  readonly #parts: GitParts;
  readonly #stores: ObjectStores;

  constructor(parts: GitParts) {
    this.#parts = parts;
    this.#stores = new ObjectStores(parts.roots, parts.clock);
  }

  async status(target: GitTarget): Promise<Located & Status> {
    return this.#look(target, (git, at) => readStatus(git, at.within));
  }

  /** Throws REVISION_NOT_FOUND, INVALID_ARGUMENTS for a bad `base`. */
  async diffStat(target: GitTarget, cached: boolean): Promise<Located & DiffStat> {
    return this.#look(target, async (git, at) => {
      const report = await readDiffStat(git, cached, at.within);
      if (report.total.files === 0) await requireThere(at);
      return report;
    });
  }

  /** One page of a patch. Throws REVISION_NOT_FOUND, and INVALID_ARGUMENTS for a bad `base` or a cursor that is out of date. */
  async diff(target: GitTarget, query: ChangesQuery): Promise<Located & Changes> {
    return this.#look(target, async (git, at) => {
      const page = await readChanges(git, { maxBytes: this.#parts.maxDiffBytes, ...query }, at.within);
      if (page.totalBytes === 0) await requireThere(at);
      return page;
    });
  }

  /** Commits, newest first. Throws as `diff`. */
  async log(target: GitTarget, query: HistoryQuery): Promise<Located & History> {
    return this.#look(target, async (git, at) => {
      const history = await readHistory(git, query, at.within);
      if (history.commits.length === 0) await requireThere(at);
      return history;
    });
  }

  /** One commit with its changes. Throws REVISION_NOT_FOUND, INVALID_ARGUMENTS for what is no revision. */
  async show(target: GitTarget, query: CommitQuery): Promise<Located & Commit> {
    const maxBytes = this.#parts.maxDiffBytes;
    return this.#look(target, (git, at) => readCommit(git, { maxBytes, ...query }, at.within));
  }

  /** Makes a repository, unless there is one. Throws INVALID_ARGUMENTS for a bad branch name, NOT_A_REPOSITORY for a `.git` that is none. */
  async init(path: string, query: InitQuery, signal: AbortSignal): Promise<InitReport> {
    const folder = await this.#parts.roots.resolveDirectory(path);
    return initRepository(this.#parts, folder, query, signal);
  }

  async #look<T>(
    { path, signal }: GitTarget,
    read: (git: RepositoryGit, at: RepositoryPath) => Promise<T>,
  ): Promise<Located & T> {
    const { roots, activeProject, runner } = this.#parts;
    const asked: AllowedPath = path === undefined ? await activeProject.resolve() : await roots.resolve(path);
    const at = await findRepository(roots, asked);
    const end = new AbortController();
    const both = AbortSignal.any([signal, end.signal]);
    const git = await repositoryGit(runner, at.repository, both);
    // git runs while it is seen that what it reads lies in the roots: reading is harmless, and nothing of it is told before
    // that is known. It is started first, since it takes longer.
    const reading = read(git, at);
    const [check, answer] = await Promise.allSettled([
      this.#stores.check(at.repository).catch((fault: unknown) => {
        end.abort(fault);
        throw fault;
      }),
      reading,
    ]);
    // What else was asked at the same time need not go on when one question failed.
    end.abort();
    if (check.status === 'rejected') throw check.reason;
    if (answer.status === 'rejected') throw answer.reason;
    return { path: at.path, repository: at.repository.top, ...answer.value };
  }
}

/** "No changes" is no answer about a path that neither the disk nor git knows. */
async function requireThere(at: RepositoryPath): Promise<void> {
  try {
    await stat(at.path);
  } catch (thrown) {
    if (systemCodeOf(thrown) === undefined) throw thrown;
    throw new BridgeError(
      'PATH_NOT_FOUND',
      `Path '${at.path}' does not exist, and git has nothing to show of it.`,
      'Correct the path.',
    );
  }
}
