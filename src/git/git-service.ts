import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { BridgeError } from '../base/errors.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedPath } from '../projects/allowed-roots.js';
import { readFilesPatch, type FilesPatchQuery } from './diff/files-patch.js';
import { PatchPages, PatchReader, type Changes } from './diff/patch.js';
import { readDiffStat, readPatch, type DiffStat } from './diff/read-diff.js';
import { initRepository, type InitQuery } from './init-repository.js';
import { factBytes, readCommit, readHistory, type CommitFacts, type HistoryQuery } from './log.js';
import { commitOf } from './revision.js';
import { findRepository, kindOf } from './run/repository.js';
import { openGit, type GitDoor, type RepositoryGit } from './run/repository-git.js';
import { readStatus, type Status } from './status.js';

export interface GitParts extends GitDoor {
  readonly activeProject: ActiveProject;
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

type ReadGit<T> = (git: RepositoryGit, path: AllowedPath) => Promise<T>;

export interface PageQuery {
  readonly cursor?: string | undefined;
  readonly maxBytes?: number | undefined;
}

export interface ChangesQuery extends PageQuery {
  /** True compares the index with `base` or the last commit; false the working tree with `base` or the index. */
  readonly cached?: boolean | undefined;
  readonly base?: string | undefined;
}

/**
 * Reads repositories in the allowed roots without running any program that they configure. Every method throws the errors of
 * AllowedRoots, NOT_A_REPOSITORY, GIT_NOT_FOUND, and GIT_FAILED with git's own message.
 */
export class GitService {
  readonly #parts: GitParts;
  /** The repository of the last call. */
  #last: RepositoryGit | undefined;
  readonly #patches = new PatchPages<Located & { readonly commit?: string }>();

  constructor(parts: GitParts) {
    this.#parts = parts;
  }

  async status(target: GitTarget): Promise<Located & Status> {
    return this.#readFiles(target, readStatus);
  }

  /** Throws REVISION_NOT_FOUND, INVALID_ARGUMENTS for a bad `base`. */
  async diffStat(target: GitTarget, cached: boolean): Promise<Located & DiffStat> {
    return this.#readFiles(target, async (git, path) => {
      const report = await readDiffStat(git, { command: diffCommand(cached), commits: [] });
      if (report.total.files === 0) await requireExists(path);
      return { ...report, filtered: cached ? [] : await git.filtered(report.files.map(({ file }) => file)) };
    });
  }

  /**
   * One page of a patch. All pages show the patch as it was at the first one. Throws REVISION_NOT_FOUND, and
   * INVALID_ARGUMENTS for a bad `base` or an outdated cursor.
   */
  async diff(target: GitTarget, query: ChangesQuery): Promise<Located & Changes> {
    const { cached = false, base } = query;
    const asked = [await this.#asked(target), cached, base];
    const { facts, page } = await this.#patches.page(asked, this.#size(query), async () => {
      const { patch, ...located } = await this.#readFiles(target, async (git, path) => {
        const commits = base === undefined ? [] : [await commitOf(git, base)];
        const read = await readPatch(git, { command: diffCommand(cached), commits });
        if (read.totalBytes === 0) await requireExists(path);
        const files = cached ? [] : read.sections.map(({ file }) => file);
        return { patch: read, filtered: await git.filtered(files) };
      });
      return { patch, facts: located };
    });
    return { ...facts, ...page };
  }

  /** One page of the patch of files, like `diff`. Throws like `readFilesPatch`, and INVALID_ARGUMENTS for an outdated cursor. */
  async filesDiff(files: FilesPatchQuery, query: PageQuery, signal: AbortSignal): Promise<Changes> {
    const { repository } = files;
    const { page } = await this.#patches.page(files, this.#size(query), async () => {
      const reader = new PatchReader();
      await readFilesPatch(this.#parts, files, (chunk) => reader.push(chunk), signal);
      return { patch: reader.finish(), facts: { path: repository, repository, hasSubmodules: false } };
    });
    return page;
  }

  /** Commits, newest first. Throws like `diff`. */
  async log(target: GitTarget, query: HistoryQuery) {
    const read = async (git: RepositoryGit, path: AllowedPath) => {
      const history = await readHistory(git, query);
      if (history.commits.length === 0) await requireExists(path);
      return history;
    };
    return this.#read(target, read, true);
  }

  /**
   * One commit with its changes against the first parent, in pages; only the first has `facts`. A cursor holds the commit, so all
   * pages show one commit even if the revision moves. Throws REVISION_NOT_FOUND, INVALID_ARGUMENTS for an invalid revision.
   */
  async show(target: GitTarget, query: PageQuery & { readonly revision: string }) {
    const { revision, cursor } = query;
    const { maxDiffBytes: most } = this.#parts;
    let facts: CommitFacts | undefined;
    // The facts take a part of the first page.
    const room = (): number =>
      Math.max(most - (facts === undefined ? 0 : factBytes(facts)), Math.floor(most / 4));
    const asked = [await this.#asked(target), 'commit'];
    const maxBytes = (): number => Math.min(query.maxBytes ?? Infinity, room());
    const { facts: located, page } = await this.#patches.page(asked, { cursor, maxBytes }, async (from) => {
      const isFirst = from === undefined;
      const found = await this.#read(
        target,
        (git) => readCommit(git, from?.commit ?? revision, isFirst),
        true,
      );
      const { patch, facts: read, ...others } = found;
      facts = read;
      return { patch, facts: others };
    });
    const { here, cursor: next, ...patch } = page;
    return { ...located, commit: located.commit ?? '', facts, patch, here, cursor: next };
  }

  /** Creates a repository unless one exists; see `initRepository`. */
  async init(path: string, query: InitQuery, signal: AbortSignal) {
    const { roots, activeProject } = this.#parts;
    const folder = await roots.resolveDirectory(await activeProject.absolute(path));
    return initRepository(this.#parts, folder, query, signal);
  }

  async #asked({ path }: Pick<GitTarget, 'path'>): Promise<AllowedPath> {
    const { roots, activeProject } = this.#parts;
    return path === undefined ? activeProject.resolve() : roots.resolve(await activeProject.absolute(path));
  }

  #size({ cursor, maxBytes = Infinity }: PageQuery) {
    return { cursor, maxBytes: () => Math.min(maxBytes, this.#parts.maxDiffBytes) };
  }

  /** Like `#read`, for what compares files: also those that git was told not to look at. */
  #readFiles<T>(target: GitTarget, read: ReadGit<T>): Promise<Located & T> {
    return this.#read(target, async (git, path) => {
      const [answer, hides] = await Promise.all([read(git, path), git.hidesFiles()]);
      return hides ? git.withPlainIndex((plain) => read(plain, path)) : answer;
    });
  }

  async #read<T>(target: GitTarget, read: ReadGit<T>, isBareEnough = false): Promise<Located & T> {
    const path = await this.#asked(target);
    const repository = await findRepository(this.#parts.roots, path, isBareEnough);
    const end = new AbortController();
    const signal = AbortSignal.any([target.signal, end.signal]);
    try {
      // Read with the settings of the last call meanwhile: the answer counts when they are those of this call.
      const early = isDeepStrictEqual(this.#last?.repository, repository) ? this.#last : undefined;
      const reading = early && read(early.with({ signal }), path);
      reading?.catch(() => undefined);
      const git = await openGit(this.#parts, repository, signal, isBareEnough);
      this.#last = git;
      const isSame = isDeepStrictEqual(early?.settings, git.settings);
      const answer = await (reading !== undefined && isSame ? reading : read(git, path));
      const hasSubmodules = existsSync(join(repository.top, '.gitmodules'));
      return { path, repository: repository.top, hasSubmodules, ...answer };
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
