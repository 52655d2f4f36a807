import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { cursorText, readCursor } from '../base/input.js';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedPath, AllowedRoots } from '../projects/allowed-roots.js';
import { readChanges, type Changes, type ChangesQuery } from './diff/changes.js';
import { readDiffStat, type DiffStat } from './diff/diff-stat.js';
import { initRepository, type InitQuery, type InitReport } from './init-repository.js';
import { readHistory, type History, type HistoryQuery } from './history.js';
import { checkStores } from './run/object-stores.js';
import { readFilesPatch, type FilesPatchQuery } from './diff/files-patch.js';
import { PatchCache } from './diff/patch-cache.js';
import { patchPage } from './diff/patch-page.js';
import { PatchReader, type Patch } from './diff/patch.js';
import { hidesFiles, withPlainIndex } from './run/plain-index.js';
import { findRepository, type RepositoryPath } from './run/repository.js';
import { gitWith, repositoryCall, type RepositoryCall, type RepositoryGit } from './run/repository-git.js';
import type { GitRunner } from './run/run-git.js';
import { factBytes, readCommit, type Commit, type CommitQuery } from './diff/show-commit.js';
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

/** Start of a page: a byte offset in the patch with this hash, called `mark` in cursors. */
const positionSchema = z.strictObject({ offset: z.int().min(0), mark: z.string().max(64) });
const commitPositionSchema = positionSchema.extend({ commit: z.string().regex(/^[0-9a-f]{40,64}$/) });
type Position = z.infer<typeof positionSchema>;

/**
 * Reads repositories in the allowed roots without running any program that they configure. Every method throws the errors of
 * AllowedRoots, NOT_A_REPOSITORY, GIT_NOT_FOUND, and GIT_FAILED with git's own message.
 */
export class GitService {
  readonly #parts: GitParts;
  readonly #patches = new PatchCache<Located>();

  constructor(parts: GitParts) {
    this.#parts = parts;
  }

  async status(target: GitTarget): Promise<Located & Status> {
    return this.#readFiles(target, (git, at) => readStatus(git, at.within));
  }

  /** Throws REVISION_NOT_FOUND, INVALID_ARGUMENTS for a bad `base`. */
  async diffStat(target: GitTarget, cached: boolean): Promise<Located & DiffStat> {
    return this.#readFiles(target, async (git, at) => {
      const report = await readDiffStat(git, cached, at.within);
      if (report.total.files === 0) await requireExists(at);
      return { ...report, filtered: cached ? [] : await git.filtered(report.files.map(({ file }) => file)) };
    });
  }

  /**
   * One page of a patch. All pages show the patch as it was at the first one. Throws REVISION_NOT_FOUND, and
   * INVALID_ARGUMENTS for a bad `base` or an outdated cursor.
   */
  async diff(target: GitTarget, query: ChangesQuery): Promise<Located & Changes> {
    const from = query.cursor === undefined ? undefined : readCursor(positionSchema, query.cursor);
    const cacheKey = JSON.stringify([await this.#asked(target), query.cached ?? false, query.base]);
    const { patch, ...located } =
      this.#cached(cacheKey, from) ??
      (await this.#readFiles(target, async (git, at) => {
        const read = await readChanges(git, query, at.within);
        if (read.totalBytes === 0) await requireExists(at);
        const files = query.cached === true ? [] : read.sections.map(({ file }) => file);
        return { patch: read, filtered: await git.filtered(files) };
      }));
    return { ...located, ...this.#page(cacheKey, patch, located, { ...query, from }) };
  }

  /** One page of the patch of files, like `diff`. Throws like `readFilesPatch`, and INVALID_ARGUMENTS for an outdated cursor. */
  async filesDiff(
    files: FilesPatchQuery,
    { cursor, maxBytes }: Pick<ChangesQuery, 'cursor' | 'maxBytes'>,
    signal: AbortSignal,
  ): Promise<Changes> {
    const from = cursor === undefined ? undefined : readCursor(positionSchema, cursor);
    const cacheKey = JSON.stringify(files);
    const reader = new PatchReader();
    const cached = this.#cached(cacheKey, from);
    if (cached === undefined) await readFilesPatch(this.#parts, files, (chunk) => reader.push(chunk), signal);
    const located = { path: files.repository, repository: files.repository, hasSubmodules: false };
    return this.#page(cacheKey, cached?.patch ?? reader.finish(), located, { from, maxBytes });
  }

  /** Commits, newest first. Throws like `diff`. */
  async log(target: GitTarget, query: HistoryQuery): Promise<Located & History> {
    const read = async (git: RepositoryGit, at: RepositoryPath): Promise<History> => {
      const history = await readHistory(git, query, at.within);
      if (history.commits.length === 0) await requireExists(at);
      return history;
    };
    return this.#read(target, read, true);
  }

  /** One commit with its changes. Throws REVISION_NOT_FOUND, INVALID_ARGUMENTS for an invalid revision. */
  async show(target: GitTarget, query: CommitQuery): Promise<Located & Commit> {
    const from = query.cursor === undefined ? undefined : readCursor(commitPositionSchema, query.cursor);
    const path = await this.#asked(target);
    const cached = from && this.#cached(commitKey(path, from.commit), from);
    const known = from && cached && { ...cached, commit: from.commit, facts: undefined };
    const { commit, facts, patch, ...located } =
      known ??
      (await this.#read(
        target,
        (git, at) => readCommit(git, from?.commit ?? query.revision, from === undefined, at.within),
        true,
      ));
    const { maxDiffBytes } = this.#parts;
    const besides = facts === undefined ? 0 : factBytes(facts);
    const { here, cursor, ...page } = this.#page(commitKey(path, commit), patch, located, {
      from,
      commit,
      maxBytes: Math.min(
        query.maxBytes ?? Infinity,
        Math.max(maxDiffBytes - besides, Math.floor(maxDiffBytes / 4)),
      ),
    });
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

  /** The patch of an earlier page, if it is still cached. */
  #cached(cacheKey: string, from: Position | undefined): (Located & { readonly patch: Patch }) | undefined {
    const cached = from === undefined ? undefined : this.#patches.get(cacheKey, from.mark);
    return cached && { ...cached.facts, patch: cached.patch };
  }

  /** Throws INVALID_ARGUMENTS when `from` belongs to another patch. */
  #page(
    cacheKey: string,
    patch: Patch,
    located: Located,
    {
      from,
      commit,
      maxBytes,
    }: {
      readonly from: Position | undefined;
      readonly commit?: string;
      readonly maxBytes?: number | undefined;
    },
  ): Changes {
    const { hash } = patch;
    const offset = from?.offset ?? 0;
    if ((from !== undefined && from.mark !== hash) || offset > patch.bytes.length) {
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        'The cursor belongs to another diff: the files have changed since.',
        'Call again without the cursor.',
      );
    }
    const pageBytes = Math.min(maxBytes ?? Infinity, this.#parts.maxDiffBytes);
    const { next, ...part } = patchPage(patch, offset, pageBytes);
    const cursorAt = (at: number): string =>
      cursorText({ offset: at, mark: hash, ...(commit !== undefined && { commit }) });
    // Cached even for the last page, which may be requested again in a smaller size.
    this.#patches.set(cacheKey, patch, located);
    return { ...part, here: cursorAt(offset), cursor: next === undefined ? undefined : cursorAt(next) };
  }

  /** Like `#read`, for what compares files: also those that git was told not to look at. */
  #readFiles<T>(
    target: GitTarget,
    read: (git: RepositoryGit, at: RepositoryPath) => Promise<T>,
  ): Promise<Located & T> {
    const { runner } = this.#parts;
    return this.#read(target, async (git, at, call) => {
      const [answer, hides] = await Promise.all([read(git, at), hidesFiles(runner, call, at.repository)]);
      if (!hides) return answer;
      return withPlainIndex(runner, call, at.repository, (plain) => read(gitWith(runner, plain), at));
    });
  }

  async #read<T>(
    target: GitTarget,
    read: (git: RepositoryGit, at: RepositoryPath, call: RepositoryCall) => Promise<T>,
    isBareEnough = false,
  ): Promise<Located & T> {
    const { roots, runner } = this.#parts;
    const at = await findRepository(roots, await this.#asked(target), isBareEnough);
    const end = new AbortController();
    const both = AbortSignal.any([target.signal, end.signal]);
    const call = await repositoryCall(runner, at.repository, both, isBareEnough);
    // git runs concurrently with the check of its object stores: reading is harmless, and the result is returned only after the
    // check. git starts first, since it takes longer.
    const reading = read(gitWith(runner, call), at, call);
    const [check, answer] = await Promise.allSettled([
      checkStores(roots, at.repository).catch((error: unknown) => {
        end.abort(error);
        throw error;
      }),
      reading,
    ]);
    // When one git call of `read` failed, the concurrent ones can stop.
    end.abort();
    if (check.status === 'rejected') throw check.reason;
    if (answer.status === 'rejected') throw answer.reason;
    const { top } = at.repository;
    const hasSubmodules = existsSync(join(top, '.gitmodules'));
    return { path: at.path, repository: top, hasSubmodules, ...answer.value };
  }
}

function commitKey(path: AllowedPath, commit: string): string {
  return JSON.stringify([path, commit]);
}

/** Throws instead of reporting "no changes" for a path that neither the disk nor git knows. */
async function requireExists(at: RepositoryPath): Promise<void> {
  try {
    await stat(at.path);
  } catch (thrown) {
    if (systemCodeOf(thrown) === undefined) throw thrown;
    throw new BridgeError(
      'PATH_NOT_FOUND',
      `Path '${at.path}' does not exist, and git knows nothing about it.`,
      'Correct the path.',
    );
  }
}
