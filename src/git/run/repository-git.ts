import { lstat } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { BridgeError, ignoreMissing, type Next } from '../../base/errors.js';
import { withTempFolder } from '../../base/files/folders.js';
import { readRegularFile } from '../../base/files/regular-file.js';
import type { AllowedRoots } from '../../projects/allowed-roots.js';
import type { GitSettings, Setting } from './git-settings.js';
import { skipsNothing } from './index-flags.js';
import { checkStores } from './object-stores.js';
import { bareError, type Repository } from './repository.js';
import { GitAt, type GitRunner, type GitSetup } from './run-git.js';

/** An index of half a million files. */
const MAX_INDEX_BYTES = 64_000_000;
/** Concurrent `lstat` calls. */
const STATS_AT_ONCE = 32;
/** Enough to write a working tree of a hundred thousand files. */
const CHANGE_LIMIT_MS = 35_000;
/** Author of commits when the user's git settings contain no name. */
const NAME_WITHOUT_SETTINGS = 'claude-code-bridge';
const NUL = Buffer.from([0]);
/** For operations that must finish even if the caller cancels. */
export const noAbort = new AbortController().signal;

/** What every use of git in a repository needs. */
export interface GitDoor {
  readonly roots: AllowedRoots;
  readonly runner: GitRunner;
}

/**
 * git in one repository. Throws like the runner, also where git itself does not take the repository; NOT_A_REPOSITORY when git
 * finds another one there or, unless `isBareEnough`, no working tree or one elsewhere; and like `checkStores`.
 */
export async function openGit(
  { roots, runner }: GitDoor,
  repository: Repository,
  signal: AbortSignal,
  isBareEnough = false,
): Promise<RepositoryGit> {
  const { top, gitDir, commonDir } = repository;
  const above = dirname(top);
  // git finds the repository itself in each command, since only then it checks the owner. The environment keeps it from searching
  // further up, and from using another working tree that core.worktree names.
  const found = { cwd: top, signal, environment: { GIT_CEILING_DIRECTORIES: above } };
  // In a bare repository the folder is given to git, since it does not look for one there.
  const bare = top === gitDir && { GIT_DIR: gitDir };
  const where = { ...found, environment: { ...found.environment, GIT_WORK_TREE: top, ...bare } };
  const [settings] = await Promise.all([runner.settings(where), checkStores(roots, repository)]);
  // GIT_CEILING_DIRECTORIES has no escape for its delimiter. For a path that contains it, the repository may be another one.
  const isUnsure = above.includes(delimiter);
  if (settings.namesTop || isUnsure) {
    const seen = await runner.topOf(found);
    if (seen.isBare && !isBareEnough)
      throw await bareError(`'${top}' is the top of a bare repository`, commonDir);
    if (!seen.isTop && !isBareEnough)
      throw new BridgeError(
        'NOT_A_REPOSITORY',
        `The settings of the repository at '${top}' (core.worktree) name another folder for its files.`,
        'Inspect it in a terminal: git rev-parse --show-toplevel names the folder. git_log and git_show work here.',
      );
    if (isUnsure && ![gitDir, join(top, '.git')].includes(seen.gitDir))
      throw new BridgeError(
        'NOT_A_REPOSITORY',
        `The .git of '${top}' is not a repository for git.`,
        'Repair the repository in a terminal.',
      );
  }
  return new RepositoryGit(runner, repository, { ...where, settings, commonDir });
}

/** Runs git in one repository, for one tool call. */
export class RepositoryGit extends GitAt {
  readonly repository: Repository;
  readonly settings: GitSettings;

  constructor(
    runner: GitRunner,
    repository: Repository,
    setup: GitSetup & { readonly settings: GitSettings },
  ) {
    super(runner, setup);
    this.repository = repository;
    this.settings = setup.settings;
  }

  /** The part of the repository that is meant, as the last arguments of a command. */
  get paths(): readonly string[] {
    const { within } = this.repository;
    return within === undefined ? ['--'] : ['--', within];
  }

  /** The same with more variables in its environment, another signal, other settings. */
  with(other: Partial<GitSetup>): RepositoryGit {
    const environment = { ...this.setup.environment, ...other.environment };
    const setup = { settings: this.settings, ...this.setup, ...other, environment };
    return new RepositoryGit(this.runner, this.repository, setup);
  }

  /** The same for commands that change the repository, with more time. No merge driver runs. */
  changing(): RepositoryGit {
    // A driver that fails makes a conflict; without one git would merge by lines.
    const { mergeDrivers, others } = this.settings;
    const failing = mergeDrivers.map((name): Setting => [`merge.${name}.driver`, 'false']);
    const settings = { ...this.settings, others: [...others, ...failing] };
    return this.with({ settings, timeLimitMs: CHANGE_LIMIT_MS, changes: true });
  }

  /**
   * Those of `names` that git compares and writes through a filter, such as git-lfs: attributes name one that the settings define.
   * The bridge runs none.
   */
  async filtered<Name extends string | Buffer>(names: readonly Name[]): Promise<readonly Name[]> {
    const defined = new Set(this.settings.filters);
    if (defined.size === 0 || names.length === 0) return [];
    const found = await this.fields(['check-attr', '-z', '--stdin', 'filter'], { input: nulLines(names) });
    return names.filter((_, at) => defined.has(found[3 * at + 2]?.toString('utf8') ?? ''));
  }

  /** Creates a commit of a tree, with the author from the user's git settings, and returns its name. */
  async commit(tree: string, parents: readonly string[], message: string): Promise<string> {
    const { code } = await this.output(['var', 'GIT_COMMITTER_IDENT'], { okCodes: [0, 1, 128] });
    // Without a name git refuses to commit.
    const names = Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) => [
        [`GIT_${who}_NAME`, NAME_WITHOUT_SETTINGS],
        [`GIT_${who}_EMAIL`, `${NAME_WITHOUT_SETTINGS}@localhost`],
      ]),
    );
    return this.text(['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'], {
      input: Buffer.from(message),
      ...(code !== 0 && { environment: names }),
    });
  }

  /** Whether git was told not to look at files that are there: skip-worktree and assume-unchanged. */
  async hidesFiles(): Promise<boolean> {
    const index = await readRegularFile(join(this.repository.gitDir, 'index'), MAX_INDEX_BYTES);
    if (index.state === 'ok' && skipsNothing(index.bytes, this.settings.hashBytes)) return false;
    const { skipped } = await this.#index();
    return skipped.length > (await this.#absent(skipped)).length;
  }

  /**
   * Runs `act` with an index that is made of nothing but the modes, object names and paths of the repository's own: no flag
   * (skip-worktree, assume-unchanged) and no false time of a file, which a program may have written there, hides a change from it. In a
   * sparse checkout the files that are not there stay left out. Changes nothing of the repository.
   */
  async withPlainIndex<T>(act: (git: RepositoryGit) => Promise<T>): Promise<T> {
    // In a temporary folder, where programs in the project cannot change it: git trusts its index.
    return withTempFolder('claude-code-bridge-git-', async (scratch) => {
      const plain = this.with({ environment: { GIT_INDEX_FILE: join(scratch, 'index') } });
      const update = (args: readonly string[], lines: readonly Buffer[] = []) =>
        plain.output(['update-index', ...args], { input: nulLines(lines), okCodes: [0, 1] });
      const { lines, skipped } = await this.#index();
      await update(['-z', '--index-info'], lines);
      const isSparse = this.settings.others.some(
        ([name, on]) => name === 'core.sparsecheckout' && on === 'true',
      );
      const absent = isSparse ? await this.#absent(skipped) : [];
      if (absent.length > 0) await update(['--skip-worktree', '-z', '--stdin'], absent);
      // Every file is read once, and not by each of the commands that follow.
      await update(['-q', '--refresh', '--ignore-submodules']);
      return act(plain);
    });
  }

  /** The entries of the index, as `git update-index --index-info` takes them, and the paths that git was told to skip. */
  async #index(): Promise<{ readonly lines: readonly Buffer[]; readonly skipped: readonly Buffer[] }> {
    // A letter for what git was told of the file, a blank, and the entry.
    const fields = await this.fields(['ls-files', '--stage', '-v', '-z']);
    const skipped = fields.filter((field) => /[Sa-z]/.test(field.toString('latin1', 0, 1)));
    return {
      lines: fields.map((field) => field.subarray(2)),
      skipped: skipped.map((field) => field.subarray(field.indexOf('\t') + 1)),
    };
  }

  /** Those of the paths that are not on the disk. */
  async #absent(paths: readonly Buffer[]): Promise<Buffer[]> {
    const top = Buffer.from(`${this.repository.top}/`);
    const there = await inBatches(paths, (path) => isThere(Buffer.concat([top, path])));
    return paths.filter((_, index) => there[index] === false);
  }
}

/** Names as standard input for options such as `-z --stdin`. */
export function nulLines(names: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(names.flatMap((name) => [Buffer.from(name), NUL]));
}

/** What `stat` returns of each item, for some items at a time. */
export async function inBatches<Item, Found>(
  items: readonly Item[],
  stat: (item: Item) => Promise<Found>,
): Promise<Found[]> {
  const found: Found[] = [];
  for (let from = 0; from < items.length; from += STATS_AT_ONCE)
    found.push(...(await Promise.all(items.slice(from, from + STATS_AT_ONCE).map(stat))));
  return found;
}

/** Whether anything has the path; a broken link counts. Throws the error of the system for a path that cannot be read. */
export async function isThere(path: string | Buffer): Promise<boolean> {
  return (await lstat(path).catch(ignoreMissing)) !== undefined;
}

/** The error when work cannot be brought into the project; nothing was changed. */
export function doesNotFit(message: string, hint: string | Next): BridgeError {
  return new BridgeError('WORK_DOES_NOT_FIT', message, hint);
}
