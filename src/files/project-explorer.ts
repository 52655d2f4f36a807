import { basename } from 'node:path';
import type { GitRunner } from '../git/run/run-git.js';
import { findRipgrep } from '../os/find-ripgrep.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import type { OpenedDirectory } from '../projects/opened-path.js';
import type { PathOpener } from '../projects/path-opener.js';
import { FolderWalk, type WalkOptions } from './folder-walk.js';
import { ignoreRules, NO_RULES } from './ignore-rules.js';
import {
  ByteBudget,
  listedFile,
  listPositionOf,
  plainName,
  readListPage,
  treeLine,
  type ListedEntry,
  type ListedFile,
} from './list-page.js';
import type { SearchPage } from './search/search-folder.js';
import type { SearchQuery } from './search/search-query.js';

/** Well below the 45 s within which every call answers. */
const SEARCH_LIMIT_MS = 20_000;
/** A modest page, since a model pays for each byte. */
const DEFAULT_PAGE_BYTES = 16_384;

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

/** Lists and searches the folders of a project, without ignored files and without following links. */
export class ProjectExplorer {
  readonly #options: ExplorerOptions;

  constructor(options: ExplorerOptions) {
    this.#options = options;
  }

  /** Throws like `PathOpener.openDirectory`, and NO_ACTIVE_PROJECT, INVALID_ARGUMENTS for a cursor. */
  async list(query: ListQuery, signal: AbortSignal): Promise<PageFacts & { readonly entries: ListedFile[] }> {
    const { items, ...facts } = await this.#page(query, signal, listedFile);
    return { ...facts, entries: items };
  }

  /** Of files and folders the names alone. Throws like `list`. */
  async names(query: ListQuery, signal: AbortSignal): Promise<NamesPage> {
    const one = (listed: ListedEntry): string | ListedFile => plainName(listed) ?? listedFile(listed);
    const { items, ...facts } = await this.#page(query, signal, one);
    const entries = items.filter((item) => typeof item !== 'string');
    const names = items.filter((item) => typeof item === 'string');
    return { ...facts, names, ...(entries.length > 0 && { entries }) };
  }

  /** Throws like `list`. */
  async tree(query: ListQuery, signal: AbortSignal): Promise<PageFacts & { readonly tree: string }> {
    const { items, ...facts } = await this.#page(query, signal, treeLine);
    const top = `${basename(facts.path)}/${facts.note === undefined ? '' : ` [${facts.note}]`}`;
    const before = query.cursor === undefined ? [] : [`… after ${listPositionOf(query.cursor).p.join('/')}`];
    const after = facts.more === undefined ? [] : [`… ${facts.more} more`];
    return { ...facts, tree: [top, ...before, ...items, ...after].join('\n') };
  }

  /** Matches sorted by path, then line. Throws like `list`, and INVALID_ARGUMENTS for a bad query, SEARCH_FAILED. */
  async search(query: SearchQuery, signal: AbortSignal): Promise<SearchPage & { readonly path: string }> {
    const { roots, env, searchLimitMs = SEARCH_LIMIT_MS } = this.#options;
    const deadlineMs = performance.now() + searchLimitMs;
    const choices = { showsHidden: true, showsIgnored: query.ignored ?? false, signal };
    return this.#withWalk(query.path, choices, async (walk, top) => {
      // Imported late: most calls of a server are no search.
      const { searchFolder } = await import('./search/search-folder.js');
      const program = this.#options.ripgrep ?? (await findRipgrep(env['PATH'], await roots.realRoots()));
      const scope = { walk, ripgrep: { program, cwd: top.entry('.'), env, signal, deadlineMs } };
      return { path: top.path, ...(await searchFolder(scope, query, query.maxBytes ?? DEFAULT_PAGE_BYTES)) };
    });
  }

  /** The entries of a page as `itemOf` shows them, as many as fit. */
  async #page<T>(
    query: ListQuery,
    signal: AbortSignal,
    itemOf: (listed: ListedEntry) => T,
  ): Promise<PageFacts & { readonly items: T[] }> {
    const after = query.cursor === undefined ? undefined : listPositionOf(query.cursor);
    const showsAll = query.ignored ?? false;
    const items: T[] = [];
    const budget = new ByteBudget(query.maxBytes ?? DEFAULT_PAGE_BYTES);
    const take = (listed: ListedEntry): boolean => {
      const item = itemOf(listed);
      if (!budget.spend(item)) return false;
      items.push(item);
      return true;
    };
    const choices = { showsHidden: showsAll, showsIgnored: showsAll, signal };
    return this.#withWalk(query.path, choices, async (walk, top) => {
      const depth = query.depth ?? this.#options.defaultDepth;
      const { cursor, more, note } = await readListPage(walk, { depth, after }, take);
      const notes = [...(note === undefined ? [] : [note]), ...walk.notes];
      return {
        path: top.path,
        ...(notes.length > 0 && { note: notes.join('; ') }),
        ...(cursor !== undefined && { more, cursor }),
        items,
      };
    });
  }

  async #withWalk<T>(
    input: string | undefined,
    choices: Pick<WalkOptions, 'showsHidden' | 'signal'> & { readonly showsIgnored: boolean },
    use: (walk: FolderWalk, top: OpenedDirectory) => Promise<T>,
  ): Promise<T> {
    const { opener, activeProject, git, roots } = this.#options;
    const top = await opener.openDirectory(await activeProject.absolute(input));
    const walk = new FolderWalk({
      top,
      hasDescriptorPaths: opener.hasDescriptorPaths,
      rulesFor: async (folder) =>
        choices.showsIgnored ? NO_RULES : ignoreRules(git, roots, folder, choices.signal),
      ...choices,
    });
    try {
      return await use(walk, top);
    } finally {
      walk.end();
      await top.handle.close();
    }
  }
}
