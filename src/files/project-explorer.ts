import { existsSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { systemClock, type Clock } from '../base/clock.js';
import type { GitRunner } from '../git/run/run-git.js';
import { workTreeAt } from '../git/worktree/work-tree.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import type { OpenedDirectory } from '../projects/opened-path.js';
import type { PathOpener } from '../projects/path-opener.js';
import { gitCanReadRules, hasGitAbove } from './ignore/git-above.js';
import { ALWAYS_IGNORED, ALWAYS_IGNORED_ARGUMENTS, isBelowAlwaysIgnored } from './ignore/always-ignored.js';
import { NO_RULES, type IgnoreRules } from './ignore/ignore-rules.js';
import { RulesOfFiles, type FolderAbove } from './ignore/ignored-by-files.js';
import { rulesOfGit } from './ignore/ignored-by-git.js';
import { CachedNames } from './list/cached-names.js';
import { moreLine, treeLine } from './list/file-tree.js';
import { ByteBudget, fileBytes, nameBytes, sizeOf, targetOf } from './list/list-budget.js';
import { cursorAt, positionOf } from './list/list-cursor.js';
import { DEFAULT_LIST_BYTES } from './list/list-limits.js';
import { listPage, type ListedEntry, type PageEnd } from './list/list-page.js';
import type { ListedFile } from './list/listed-file.js';
import { FolderWalk, type RulesFor } from './list/walk-folder.js';
import type { SearchPage } from './search/search-page.js';
import type { SearchEngine, SearchPlace } from './search/search-place.js';
import type { SearchQuery } from './search/search-query.js';

/** Well below the 45 s in which every call answers. */
const SEARCH_LIMIT_MS = 20_000;

export interface ListQuery {
  readonly path?: string | undefined;
  /** The configured depth when left out. */
  readonly depth?: number | undefined;
  readonly cursor?: string | undefined;
  readonly maxBytes?: number | undefined;
  /** True to show what is ignored, too. */
  readonly ignored?: boolean | undefined;
}

/** What every page says besides what is on it. */
export interface PageFacts {
  readonly path: string;
  /** Why the folder itself shows nothing, and what was special about its ignore rules. */
  readonly note?: string;
  /** Entries left out in the folders that were read; what is in unread folders comes on top. */
  readonly more?: number;
  readonly cursor?: string;
}

/** A page of names alone. */
export interface NamesPage extends PageFacts {
  /** Of ordinary files, and of folders, which end with `/`; relative to the listed folder. */
  readonly names: string[];
  /** Entries with more than a name: links, what is neither file nor folder, folders that show nothing. Undefined without any. */
  readonly entries?: ListedFile[];
}

export interface ExplorerOptions {
  readonly opener: PathOpener;
  readonly roots: AllowedRoots;
  readonly activeProject: ActiveProject;
  readonly git: GitRunner;
  /** The environment of ripgrep: where programs and the user's settings of git are. */
  readonly env: Readonly<Record<string, string>>;
  /** Depth of a listing that names none. */
  readonly defaultDepth: number;
  /** What searches, the first that can; ripgrep, then this program itself when left out. */
  readonly engines?: readonly SearchEngine[];
  readonly searchLimitMs?: number;
  readonly clock?: Clock;
}

interface WalkChoice {
  readonly showsHidden: boolean;
  readonly showsIgnored: boolean;
  readonly signal: AbortSignal;
}

/** What a call needs of the folder that it is about. */
interface Walking {
  readonly walk: FolderWalk;
  readonly top: OpenedDirectory;
}

/** Shows what is in the folders of a project: nothing ignored, nothing beyond a link. */
export class ProjectExplorer {
  readonly #options: ExplorerOptions;
  readonly #cache: CachedNames;

  constructor(options: ExplorerOptions) {
    const { clock = systemClock } = options;
    this.#options = options;
    this.#cache = new CachedNames(() => clock.now());
  }

  /** Throws as `PathOpener.openDirectory`, and NO_ACTIVE_PROJECT, INVALID_ARGUMENTS for a cursor, GIT_FAILED. */
  async list(query: ListQuery, signal: AbortSignal): Promise<PageFacts & { readonly entries: ListedFile[] }> {
    const entries: ListedFile[] = [];
    const budget = new ByteBudget(query.maxBytes ?? DEFAULT_LIST_BYTES);
    const facts = await this.#page(query, signal, (listed) => {
      const file = listedFile(listed);
      if (!budget.spend(fileBytes(file) + 1)) return false;
      entries.push(file);
      return true;
    });
    return { ...facts, entries };
  }

  /** Reads the facts of no file, so thousands of names take little more than reading the folder. Throws as `list`. */
  async names(query: ListQuery, signal: AbortSignal): Promise<NamesPage> {
    const names: string[] = [];
    const entries: ListedFile[] = [];
    const budget = new ByteBudget(query.maxBytes ?? DEFAULT_LIST_BYTES);
    const facts = await this.#page(query, signal, (listed) => {
      const name = plainName(listed);
      if (name === undefined) {
        const file = unlikeOthers(listed);
        if (!budget.spend(fileBytes(file) + 1)) return false;
        entries.push(file);
        return true;
      }
      if (!budget.spend(nameBytes(name) + 1)) return false;
      names.push(name);
      return true;
    });
    return { ...facts, names, ...(entries.length > 0 && { entries }) };
  }

  /** Throws as `list`. */
  async tree(query: ListQuery, signal: AbortSignal): Promise<PageFacts & { readonly tree: string }> {
    const lines: string[] = [];
    const budget = new ByteBudget(query.maxBytes ?? DEFAULT_LIST_BYTES);
    const facts = await this.#page(query, signal, (listed) => {
      const target = listed.entry.type === 'symlink' ? targetOf(listed) : undefined;
      const line = treeLine(listed, target);
      // As JSON: quotes and backslashes in names take twice their length.
      if (!budget.spend(Buffer.byteLength(JSON.stringify(line)))) return false;
      lines.push(line);
      return true;
    });
    const top = `${basename(facts.path)}/${facts.note === undefined ? '' : ` [${facts.note}]`}`;
    const before =
      query.cursor === undefined ? [] : [`… after ${positionOf(query.cursor).segments.join('/')}`];
    const after = facts.more === undefined ? [] : [moreLine(facts.more)];
    return { ...facts, tree: [top, ...before, ...lines, ...after].join('\n') };
  }

  /** Matches by path, then line. Throws as `list`, and INVALID_ARGUMENTS for what cannot be searched for, SEARCH_FAILED. */
  async search(query: SearchQuery, signal: AbortSignal): Promise<SearchPage & { readonly path: string }> {
    const { opener, git, env, engines = ['rg', 'own'], searchLimitMs = SEARCH_LIMIT_MS } = this.#options;
    const showsIgnored = query.ignored ?? false;
    const choice: WalkChoice = { showsHidden: true, showsIgnored, signal };
    return this.#walking(query.path, choice, async ({ walk, top }) => {
      const { path } = top;
      const cwd = top.entry('.');
      const above = await this.#foldersAbove(path);
      const hidesAlways = !isBelowAlwaysIgnored(path);
      const rough = showsIgnored ? NO_RULES : new RulesOfFiles(above, hidesAlways);
      const roughWalk = this.#walk(top, choice, () => Promise.resolve(rough));
      // Listings do not need it, and the engine of regular expressions is large.
      const { searchFolder } = await import('./search/search-folder.js');
      const place: SearchPlace = {
        walk,
        roughWalk,
        path,
        cwd,
        hasDescriptorPaths: opener.hasDescriptorPaths,
        engines,
        ...ripgrepRules(path, above, showsIgnored),
        excludes: showsIgnored || !hidesAlways ? [] : ALWAYS_IGNORED,
        workTree: () => workTreeAt(git, cwd, signal),
        env,
        signal,
        timeLimitMs: searchLimitMs,
      };
      try {
        return { path, ...(await searchFolder(place, query, query.maxBytes ?? DEFAULT_LIST_BYTES)) };
      } finally {
        roughWalk.end();
      }
    });
  }

  async #page(
    query: ListQuery,
    signal: AbortSignal,
    take: (listed: ListedEntry) => boolean,
  ): Promise<PageFacts> {
    const after = query.cursor === undefined ? undefined : positionOf(query.cursor);
    const depth = query.depth ?? this.#options.defaultDepth;
    const choice: WalkChoice = { showsHidden: false, showsIgnored: query.ignored ?? false, signal };
    return this.#walking(query.path, choice, async ({ walk, top }) => {
      const end = await listPage({ walk, depth, after, take });
      return factsOf(top.path, end, walk);
    });
  }

  async #walking<T>(
    input: string | undefined,
    choice: WalkChoice,
    use: (walking: Walking) => Promise<T>,
  ): Promise<T> {
    const { opener, activeProject } = this.#options;
    const top = await opener.openDirectory(
      input === undefined ? await activeProject.resolve() : activeProject.absolute(input),
    );
    const walk = this.#walk(top, choice, (path, place) =>
      choice.showsIgnored ? Promise.resolve(NO_RULES) : this.#rulesFor(path, place, choice.signal),
    );
    try {
      return await use({ walk, top });
    } finally {
      walk.end();
      await top.handle.close();
    }
  }

  #walk(top: OpenedDirectory, { showsHidden, signal }: WalkChoice, rulesFor: RulesFor): FolderWalk {
    const { hasDescriptorPaths } = this.#options.opener;
    return new FolderWalk({ top, hasDescriptorPaths, rulesFor, cache: this.#cache, showsHidden, signal });
  }

  /** git's own rules in a repository; else those of the ignore files, also of the folders above within the roots. And ALWAYS_IGNORED. */
  async #rulesFor(path: string, place: string, signal: AbortSignal): Promise<IgnoreRules> {
    const hidesAlways = !isBelowAlwaysIgnored(path);
    const ofFiles = async (): Promise<RulesOfFiles> =>
      new RulesOfFiles(await this.#foldersAbove(path), hidesAlways);
    if (!gitCanReadRules(path) || !hasGitAbove(path)) return ofFiles();
    const tree = await workTreeAt(this.#options.git, place, signal);
    return tree === undefined
      ? ofFiles()
      : rulesOfGit(tree, hidesAlways ? ALWAYS_IGNORED_ARGUMENTS : [], ofFiles);
  }

  /** Within the roots, nearest last. */
  async #foldersAbove(path: string): Promise<readonly FolderAbove[]> {
    const above: FolderAbove[] = [];
    for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
      if ((await this.#options.roots.admit(folder)) === undefined) break;
      above.unshift({ path: folder, prefix: `${relative(folder, path)}/` });
    }
    return above;
  }
}

/** What ripgrep is to know of ignore files; where it reads none, nothing of git matters to it. */
function ripgrepRules(
  path: string,
  above: readonly FolderAbove[],
  showsIgnored: boolean,
): Pick<SearchPlace, 'canUseRipgrep' | 'hasGitAbove' | 'readsIgnoreFiles'> {
  if (showsIgnored) return { canUseRipgrep: true, hasGitAbove: false, readsIgnoreFiles: false };
  const isBelowGit = hasGitAbove(path);
  const canUseRipgrep = gitCanReadRules(path) && (isBelowGit || !haveRules(above));
  return { canUseRipgrep, hasGitAbove: isBelowGit, readsIgnoreFiles: true };
}

function haveRules(above: readonly FolderAbove[]): boolean {
  return above.some(({ path }) => existsSync(join(path, '.gitignore')));
}

function listedFile(listed: ListedEntry): ListedFile {
  const { entry, note } = listed;
  const { type } = entry;
  const size = type === 'file' ? sizeOf(listed) : undefined;
  // Nearly every entry is one of these, and there may be thousands.
  if (size !== undefined && note === undefined) return { name: nameOf(listed), type, size };
  return unlikeOthers(listed);
}

/** An entry without a size. */
function unlikeOthers(listed: ListedEntry): ListedFile {
  const { entry, note } = listed;
  const target = entry.type === 'symlink' ? targetOf(listed) : undefined;
  return {
    name: nameOf(listed),
    type: entry.type,
    ...(target !== undefined && { target }),
    ...(note !== undefined && { note }),
  };
}

/** Of a file, or a folder; undefined where the name alone does not say what it is. */
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
  const all = [note, ...notes, leftOut].filter((each) => each !== undefined);
  return {
    path,
    ...(all.length > 0 && { note: all.join('; ') }),
    ...(last !== undefined && { more, cursor: cursorAt(last) }),
  };
}
