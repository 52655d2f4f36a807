import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { BridgeError } from '../base/errors.js';
import { readCursor } from '../base/input.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedPath, AllowedRoots } from '../projects/allowed-roots.js';
import { readFilesPatch, type FilesPatchQuery } from './diff/files-patch.js';
import { PatchCache, patchPage, PatchReader, positionSchema, type Changes } from './diff/patch.js';
import { readDiffStat, readPatch, type DiffStat } from './diff/read-diff.js';
import { initRepository, type InitQuery, type InitReport } from './init-repository.js';
import {
  factBytes,
  readCommit,
  readHistory,
  type Commit,
  type CommitQuery,
  type History,
  type HistoryQuery,
} from './log.js';
import { commitOf } from './revision.js';
import { checkStores } from './run/object-stores.js';
import { findRepository, kindOf, type RepositoryPath } from './run/repository.js';
import { openGit, type RepositoryGit } from './run/repository-git.js';
import type { GitRunner } from './run/run-git.js';
import { readStatus, type Status } from './status.js';

export interface GitParts {
  readonly roots: AllowedRoots;
  readonly activeProject: ActiveProject;
  readonly runner: GitRunner;
  /** Page size of a patch when the call names none. */
  readonly maxDiffBytes: number;
}

/** The target of a call. Without a path it is the active project, from which a relative path starts. */
export interface GitTarget {
  readonly path: string | undefined;
  readonly signal: AbortSignal;
}

export interface Located {
  readonly path: string;
  /** Top folder of the repository; file names are relative to it. */
  readonly repository: string;
  /** git does not look for changed files in these: their own settings could start programs. */
  readonly hasSubmodules: boolean;
  /** Files that git compares through a filter, which is not run: whether they have changed is not known. */
  readonly filtered?: readonly string[];
}

export interface ChangesQuery {
  /** True compares the index with `base` or the last commit; false the working tree with `base` or the index. */
  readonly cached?: boolean | undefined;
  readonly base?: string | undefined;
  readonly cursor?: string | undefined;
  readonly maxBytes?: number | undefined;
}

const commitPositionSchema = positionSchema.extend({ commit: z.string().regex(/^[0-9a-f]{40,64}$/) });

/**
 * Reads repositories in the allowed roots without running any program that they configure. Every method throws the errors of
 * AllowedRoots, NOT_A_REPOSITORY, GIT_NOT_FOUND, and GIT_FAILED with git's own message.
 */
export class GitService {
  readonly #parts: GitParts;
  /** Cached even for the last page, which may be requested again in a smaller size. */
  readonly #patches = new PatchCache<Located>();

  constructor(parts: GitParts) {
    this.#parts = parts;
  }

  async status(target: GitTarget): Promise<Located & Status> {
    return this.#readFiles(target, (git, at) => readStatus(git, at.within));
  }

  /** Throws REVISION_NOT_FOUND, INVALID_ARGUMENTS for a bad `base`. */
  async diffStat(target: GitTarget, cached: boolean): Promise<Located & DiffStat> {
    return this.#readFiles(target, async (git, { path, within }) => {
      const report = await readDiffStat(git, { command: diffCommand(cached), commits: [], within });
      if (report.total.files === 0) await requireExists(path);
      return { ...report, filtered: cached ? [] : await git.filtered(report.files.map(({ file }) => file)) };
    });
  }

  /**
   * One page of a patch. All pages show the patch as it was at the first one. Throws REVISION_NOT_FOUND, and
   * INVALID_ARGUMENTS for a bad `base` or an outdated cursor.
   */
  async diff(target: GitTarget, query: ChangesQuery): Promise<Located & Changes> {
    const { cursor, cached = false, base, maxBytes } = query;
    const from = cursor === undefined ? undefined : readCursor(positionSchema, cursor);
    const key = JSON.stringify([await this.#asked(target), cached, base]);
    const known = this.#patches.get(key, from);
    const { patch, ...facts } =
      known === undefined
        ? await this.#readFiles(target, async (git, { path, within }) => {
            const commits = base === undefined ? [] : [await commitOf(git, base)];
            const read = await readPatch(git, { command: diffCommand(cached), commits, within });
            if (read.totalBytes === 0) await requireExists(path);
            const files = cached ? [] : read.sections.map(({ file }) => file);
            return { patch: read, filtered: await git.filtered(files) };
          })
        : { patch: known.patch, ...known.facts };
    const page = patchPage(patch, { from, maxBytes: this.#pageBytes(maxBytes) });
    this.#patches.set(key, patch, facts);
    return { ...facts, ...page };
  }

  /** One page of the patch of files, like `diff`. Throws like `readFilesPatch`, and INVALID_ARGUMENTS for an outdated cursor. */
  async filesDiff(
    files: FilesPatchQuery,
    { cursor, maxBytes }: Pick<ChangesQuery, 'cursor' | 'maxBytes'>,
    signal: AbortSignal,
  ): Promise<Changes> {
    const from = cursor === undefined ? undefined : readCursor(positionSchema, cursor);
    const key = JSON.stringify(files);
    const reader = new PatchReader();
    const known = this.#patches.get(key, from);
    if (known === undefined) await readFilesPatch(this.#parts, files, (chunk) => reader.push(chunk), signal);
    const patch = known?.patch ?? reader.finish();
    const page = patchPage(patch, { from, maxBytes: this.#pageBytes(maxBytes) });
    const { repository } = files;
    this.#patches.set(key, patch, { path: repository, repository, hasSubmodules: false });
    return page;
  }

  /** Commits, newest first. Throws like `diff`. */
  async log(target: GitTarget, query: HistoryQuery): Promise<Located & History> {
    const read = async (git: RepositoryGit, { path, within }: RepositoryPath): Promise<History> => {
      const history = await readHistory(git, query, within);
      if (history.commits.length === 0) await requireExists(path);
      return history;
    };
    return this.#read(target, read, true);
  }

  /** One commit with its changes. Throws REVISION_NOT_FOUND, INVALID_ARGUMENTS for an invalid revision. */
  async show(target: GitTarget, query: CommitQuery): Promise<Located & Commit> {
    const from = query.cursor === undefined ? undefined : readCursor(commitPositionSchema, query.cursor);
    const path = await this.#asked(target);
    const keyOf = (commit: string): string => JSON.stringify([path, commit]);
    const known = from && this.#patches.get(keyOf(from.commit), from);
    const revision = from?.commit ?? query.revision;
    const { commit, facts, patch, ...located } =
      known === undefined
        ? await this.#read(
            target,
            (git, at) => readCommit(git, revision, from === undefined, at.within),
            true,
          )
        : { commit: revision, facts: undefined, patch: known.patch, ...known.facts };
    const { maxDiffBytes } = this.#parts;
    // The facts take a part of the first page.
    const room = facts === undefined ? maxDiffBytes : maxDiffBytes - factBytes(facts);
    const maxBytes = Math.min(query.maxBytes ?? Infinity, Math.max(room, Math.floor(maxDiffBytes / 4)));
    const { here, cursor, ...page } = patchPage(patch, { from, maxBytes, more: { commit } });
    this.#patches.set(keyOf(commit), patch, located);
    return { ...located, commit, facts, patch: page, here, cursor };
  }

  /** Creates a repository unless one exists. Throws INVALID_ARGUMENTS for a bad branch name, NOT_A_REPOSITORY for a bad `.git`. */
  async init(path: string, query: InitQuery, signal: AbortSignal): Promise<InitReport> {
    const { roots, activeProject } = this.#parts;
    const folder = await roots.resolveDirectory(await activeProject.absolute(path));
    return initRepository(this.#parts, folder, query, signal);
  }

  async #asked({ path }: Pick<GitTarget, 'path'>): Promise<AllowedPath> {
    const { roots, activeProject } = this.#parts;
    return path === undefined ? activeProject.resolve() : roots.resolve(await activeProject.absolute(path));
  }

  #pageBytes(maxBytes: number | undefined): number {
    return Math.min(maxBytes ?? Infinity, this.#parts.maxDiffBytes);
  }

  /** Like `#read`, for what compares files: also those that git was told not to look at. */
  #readFiles<T>(
    target: GitTarget,
    read: (git: RepositoryGit, at: RepositoryPath) => Promise<T>,
  ): Promise<Located & T> {
    return this.#read(target, async (git, at) => {
      const [answer, hides] = await Promise.all([read(git, at), git.hidesFiles()]);
      return hides ? git.withPlainIndex((plain) => read(plain, at)) : answer;
    });
  }

  async #read<T>(
    target: GitTarget,
    read: (git: RepositoryGit, at: RepositoryPath) => Promise<T>,
    isBareEnough = false,
  ): Promise<Located & T> {
    const { roots, runner } = this.#parts;
    const at = await findRepository(roots, await this.#asked(target), isBareEnough);
    const { top } = at.repository;
    await checkStores(roots, at.repository);
    const end = new AbortController();
    const signal = AbortSignal.any([target.signal, end.signal]);
    try {
      const answer = await read(await openGit(runner, at.repository, signal, isBareEnough), at);
      const hasSubmodules = existsSync(join(top, '.gitmodules'));
      return { path: at.path, repository: top, hasSubmodules, ...answer };
    } finally {
      // When one git call of `read` failed, the concurrent ones can stop.
      end.abort();
    }
  }
}

function diffCommand(cached: boolean): readonly string[] {
  return cached ? ['diff', '--cached'] : ['diff'];
}

/** Throws instead of reporting "no changes" for a path that neither the disk nor git knows. */
async function requireExists(path: string): Promise<void> {
  if ((await kindOf(path)) !== 'missing') return;
  throw new BridgeError(
    'PATH_NOT_FOUND',
    `Path '${path}' does not exist, and git knows nothing about it.`,
    'Correct the path.',
  );
}
