import { basename, dirname, relative } from 'node:path';
import type { GitRunner } from '../git/run/run-git.js';
import { workTreeAt } from '../git/worktree/work-tree.js';
import { findRipgrep } from '../os/find-ripgrep.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import type { OpenedDirectory } from '../projects/opened-path.js';
import type { PathOpener } from '../projects/path-opener.js';
import { gitCanReadRules, hasGitAbove } from './ignore/git-above.js';
import { ALWAYS_IGNORED_ARGUMENTS, isBelowAlwaysIgnored } from './ignore/always-ignored.js';
import { NO_RULES, type IgnoreRules } from './ignore/ignore-rules.js';
import { RulesOfFiles, type FolderAbove } from './ignore/ignored-by-files.js';
import { rulesOfGit } from './ignore/ignored-by-git.js';
import { moreLine, treeLine } from './list/file-tree.js';
import { ByteBudget, jsonBytes, sizeOf, targetOf } from './list/list-budget.js';
import { cursorAt, positionOf } from './list/list-cursor.js';
import { DEFAULT_LIST_BYTES } from './list/list-limits.js';
import { listPage, type ListedEntry, type PageEnd } from './list/list-page.js';
import type { ListedFile } from './list/listed-file.js';
import { FolderWalk } from './list/walk-folder.js';
import type { SearchPage } from './search/search-page.js';
import type { SearchQuery } from './search/search-query.js';

/** Well below the 45 s within which every call answers. */
const SEARCH_LIMIT_MS = 20_000;

export interface ListQuery {
  readonly path?: string | undefined;
  /** Default: the configured depth. */
  readonly depth?: number | undefined;
  readonly cursor?: string | undefined;
  readonly maxBytes?: number | undefined;
  /** True to show hidden and ignored files, too. */
  readonly ignored?: boolean | undefined;
}

/** The facts of every page besides its entries. */
export interface PageFacts {
  readonly path: string;
  /** Why the folder itself shows nothing, and notes about its ignore rules. */
  readonly note?: string;
  /** Remaining entries in the folders that were read; those in unread folders are not counted. */
  readonly more?: number;
  readonly cursor?: string;
}

/** A page with names only. */
export interface NamesPage extends PageFacts {
  /** Names of regular files, and of folders with a final `/`, relative to the listed folder. */
  readonly names: string[];
  /** Entries that need more than a name: links, special files, and folders with a note. Undefined without any. */
  readonly entries?: ListedFile[];
}

export interface ExplorerOptions {
  readonly opener: PathOpener;
  readonly roots: AllowedRoots;
  readonly activeProject: ActiveProject;
  readonly git: GitRunner;
  /** The environment of ripgrep, with PATH and the folders of the user's git settings. */
  readonly env: Readonly<Record<string, string>>;
  /** Depth of a listing whose query names none. */
  readonly defaultDepth: number;
  /** Default: that of the package, else on PATH. */
  readonly ripgrep?: string;
  readonly searchLimitMs?: number;
}

interface WalkOptions {
  readonly showsHidden: boolean;
  readonly showsIgnored: boolean;
  readonly signal: AbortSignal;
}

/** The folder of a call, opened, and a walk through it. */
interface OpenedWalk {
  readonly walk: FolderWalk;
  readonly top: OpenedDirectory;
}

/** Lists and searches the folders of a project, without ignored files and without following links. */
export class ProjectExplorer {
  readonly #options: ExplorerOptions;

  constructor(options: ExplorerOptions) {
    this.#options = options;
  }

  /** Throws like `PathOpener.openDirectory`, and NO_ACTIVE_PROJECT, INVALID_ARGUMENTS for a cursor. */
  async list(query: ListQuery, signal: AbortSignal): Promise<PageFacts & { readonly entries: ListedFile[] }> {
    const entries: ListedFile[] = [];
    const budget = new ByteBudget(query.maxBytes ?? DEFAULT_LIST_BYTES);
    const facts = await this.#page(query, signal, (listed) => {
      const file = listedFile(listed);
      if (!budget.spend(jsonBytes(file) + 1)) return false;
      entries.push(file);
      return true;
    });
    return { ...facts, entries };
  }

  /** Does not stat files, so thousands of names take little more time than reading the folder. Throws like `list`. */
  async names(query: ListQuery, signal: AbortSignal): Promise<NamesPage> {
    const names: string[] = [];
    const entries: ListedFile[] = [];
    const budget = new ByteBudget(query.maxBytes ?? DEFAULT_LIST_BYTES);
    const facts = await this.#page(query, signal, (listed) => {
      const name = plainName(listed);
      if (name === undefined) {
        const file = entryWithoutSize(listed);
        if (!budget.spend(jsonBytes(file) + 1)) return false;
        entries.push(file);
        return true;
      }
      if (!budget.spend(jsonBytes(name) + 1)) return false;
      names.push(name);
      return true;
    });
    return { ...facts, names, ...(entries.length > 0 && { entries }) };
  }

  /** Throws like `list`. */
  async tree(query: ListQuery, signal: AbortSignal): Promise<PageFacts & { readonly tree: string }> {
    const lines: string[] = [];
    const budget = new ByteBudget(query.maxBytes ?? DEFAULT_LIST_BYTES);
    const facts = await this.#page(query, signal, (listed) => {
      const target = listed.entry.type === 'symlink' ? targetOf(listed) : undefined;
      const line = treeLine(listed, target);
      if (!budget.spend(jsonBytes(line))) return false;
      lines.push(line);
      return true;
    });
    const top = `${basename(facts.path)}/${facts.note === undefined ? '' : ` [${facts.note}]`}`;
    const before =
      query.cursor === undefined ? [] : [`… after ${positionOf(query.cursor).segments.join('/')}`];
    const after = facts.more === undefined ? [] : [moreLine(facts.more)];
    return { ...facts, tree: [top, ...before, ...lines, ...after].join('\n') };
  }

  /** Matches sorted by path, then line. Throws like `list`, and INVALID_ARGUMENTS for a bad query, SEARCH_FAILED. */
  async search(query: SearchQuery, signal: AbortSignal): Promise<SearchPage & { readonly path: string }> {
    const { roots, env, searchLimitMs = SEARCH_LIMIT_MS } = this.#options;
    const deadlineMs = performance.now() + searchLimitMs;
    const options: WalkOptions = { showsHidden: true, showsIgnored: query.ignored ?? false, signal };
    return this.#withWalk(query.path, options, async ({ walk, top }) => {
      // Imported late: most calls of a server are no search.
      const { searchFolder } = await import('./search/search-folder.js');
      const program = this.#options.ripgrep ?? (await findRipgrep(env['PATH'], await roots.realRoots()));
      const scope = { walk, ripgrep: { program, cwd: top.entry('.'), env, signal, deadlineMs } };
      return { path: top.path, ...(await searchFolder(scope, query, query.maxBytes ?? DEFAULT_LIST_BYTES)) };
    });
  }

  async #page(
    query: ListQuery,
    signal: AbortSignal,
    take: (listed: ListedEntry) => boolean,
  ): Promise<PageFacts> {
    const after = query.cursor === undefined ? undefined : positionOf(query.cursor);
    const depth = query.depth ?? this.#options.defaultDepth;
    const showsAll = query.ignored ?? false;
    const options: WalkOptions = { showsHidden: showsAll, showsIgnored: showsAll, signal };
    return this.#withWalk(query.path, options, async ({ walk, top }) => {
      const end = await listPage({ walk, depth, after, take });
      return factsOf(top.path, end, walk);
    });
  }

  async #withWalk<T>(
    input: string | undefined,
    options: WalkOptions,
    use: (opened: OpenedWalk) => Promise<T>,
  ): Promise<T> {
    const { opener, activeProject } = this.#options;
    const top = await opener.openDirectory(await activeProject.absolute(input));
    const walk = new FolderWalk({
      top,
      hasDescriptorPaths: opener.hasDescriptorPaths,
      rulesFor: (path, fdPath) =>
        options.showsIgnored ? Promise.resolve(NO_RULES) : this.#rulesFor(path, fdPath, options.signal),
      showsHidden: options.showsHidden,
      signal: options.signal,
    });
    try {
      return await use({ walk, top });
    } finally {
      walk.end();
      await top.handle.close();
    }
  }

  /** git's own rules in a repository, otherwise the ignore files, including those of the folders above; and ALWAYS_IGNORED. */
  async #rulesFor(path: string, fdPath: string, signal: AbortSignal): Promise<IgnoreRules> {
    const hidesAlways = !isBelowAlwaysIgnored(path);
    const byFiles = async (): Promise<RulesOfFiles> =>
      new RulesOfFiles(await this.#foldersAbove(path), hidesAlways, signal);
    if (!gitCanReadRules(path) || !hasGitAbove(path)) return byFiles();
    const treeAt = (): ReturnType<typeof workTreeAt> => workTreeAt(this.#options.git, fdPath, signal);
    return rulesOfGit(treeAt, hidesAlways ? ALWAYS_IGNORED_ARGUMENTS : [], byFiles);
  }

  /** The folders above `path` within the roots, nearest last. */
  async #foldersAbove(path: string): Promise<readonly FolderAbove[]> {
    const above: FolderAbove[] = [];
    for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
      if ((await this.#options.roots.admit(folder)) === undefined) break;
      above.unshift({ path: folder, prefix: `${relative(folder, path)}/` });
    }
    return above;
  }
}

function listedFile(listed: ListedEntry): ListedFile {
  const size = listed.entry.type === 'file' ? sizeOf(listed) : undefined;
  return { ...entryWithoutSize(listed), ...(size !== undefined && { size }) };
}

/** An entry without a size. */
function entryWithoutSize(listed: ListedEntry): ListedFile {
  const { entry, note } = listed;
  const target = entry.type === 'symlink' ? targetOf(listed) : undefined;
  return {
    name: nameOf(listed),
    type: entry.type,
    ...(target !== undefined && { target }),
    ...(note !== undefined && { note }),
  };
}

/** The name of a regular file or of a folder; undefined for an entry that needs more than a name. */
function plainName(listed: ListedEntry): string | undefined {
  const { entry, note } = listed;
  if (note !== undefined) return undefined;
  if (entry.type === 'file') return nameOf(listed);
  return entry.isFolder ? `${nameOf(listed)}/` : undefined;
}

/** Relative to the listed folder. */
function nameOf({ entry, folders }: ListedEntry): string {
  return folders.length === 0 ? entry.name : [...folders, entry.name].join('/');
}

function factsOf(path: string, { last, more, note }: PageEnd, { notes, leftOut }: FolderWalk): PageFacts {
  const all = [note, ...notes, leftOut.note()].filter((each) => each !== undefined);
  return {
    path,
    ...(all.length > 0 && { note: all.join('; ') }),
    ...(last !== undefined && { more, cursor: cursorAt(last) }),
  };
}
