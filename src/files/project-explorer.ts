import { setMaxListeners } from 'node:events';
import { basename, dirname, relative } from 'node:path';
import { systemClock, type Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import type { OpenedDirectory } from '../projects/opened-path.js';
import type { PathOpener } from '../projects/path-opener.js';
import { isBeyondLink } from './check-ignore.js';
import { moreLine, treeLine } from './file-tree.js';
import { gitCanReadRules, hasGitAbove, type OpenGit } from './git-listing.js';
import { RulesOfGit } from './ignored-by-git.js';
import { RulesOfFiles, type FolderAbove } from './ignored-by-files.js';
import type { IgnoreRules } from './ignored-names.js';
import { ByteBudget, fileBytes, nameBytes, targetOf } from './list-budget.js';
import { cursorAt, positionOf } from './list-cursor.js';
import { DEFAULT_LIST_BYTES, MAX_LIST_DEPTH } from './list-limits.js';
import { listPage, type ListedEntry, type PageEnd } from './list-page.js';
import type { ListedFile } from './listed-file.js';
import { KeptNames } from './kept-names.js';
import { KeptVerdicts } from './kept-verdicts.js';
import type { SearchEngine } from './search-engine.js';
import type { SearchPage, SearchQuery } from './search-folder.js';
import { SizesAhead } from './sizes-ahead.js';
import { FolderWalk } from './walk-folder.js';
import { WalkGit } from './walk-git.js';
import { WorkTrees } from './work-trees.js';

/** What takes longer waits for something, such as a pipe in the place of an ignore file. */
const PATIENCE_MS = 8_000;
/** At a folder that becomes a link and back all the time the call fails, and says so. */
const MAX_LOOKS = 3;
/** Of a listing, rather too few, since sizes are looked at ahead: a file with a name of seven characters. */
const USUAL_ENTRY_BYTES = 42;
/** Of a listing of names, likewise. */
const USUAL_NAME_BYTES = 16;

export interface ListQuery {
  readonly path?: string | undefined;
  /** 1 to 5; the configured depth when left out. */
  readonly depth?: number | undefined;
  readonly cursor?: string | undefined;
  readonly maxBytes?: number | undefined;
}

/** What every page tells besides what is on it. */
export interface PageFacts {
  readonly path: string;
  /** Why the folder itself shows nothing. */
  readonly note?: string;
  /** Entries left out in the folders that were read; what is in unread folders comes on top. */
  readonly more?: number;
  readonly cursor?: string;
}

/** A page of names alone. */
export interface NamesPage extends PageFacts {
  /** Of ordinary files, and of folders, which end with `/`; relative to the listed folder. */
  readonly names: string[];
  /** What more is to be said of than a name: links, what is neither file nor folder, folders that show nothing. Undefined without. */
  readonly entries?: ListedFile[];
}

/** Shows what is in the folders of a project: nothing ignored, nothing hidden, nothing beyond a link. */
export class ProjectExplorer {
  readonly #opener: PathOpener;
  readonly #roots: AllowedRoots;
  readonly #activeProject: ActiveProject;
  readonly #openGit: OpenGit;
  readonly #defaultDepth: number;
  readonly #engines: readonly SearchEngine[];
  readonly #patienceMs: number;
  readonly #kept: KeptNames;
  readonly #verdicts: KeptVerdicts;
  readonly #workTrees = new WorkTrees();

  constructor(options: {
    readonly opener: PathOpener;
    readonly roots: AllowedRoots;
    readonly activeProject: ActiveProject;
    readonly openGit: OpenGit;
    /** Depth of a listing that names none; at most 5 is used. */
    readonly defaultDepth: number;
    /** What searches, the first that can; ripgrep, git, then this program itself when left out. */
    readonly engines?: readonly SearchEngine[];
    /** What a program may take that lists or searches, before looking at each file takes over. */
    readonly patienceMs?: number;
    readonly clock?: Clock;
  }) {
    const { clock = systemClock } = options;
    this.#kept = new KeptNames(() => clock.now());
    this.#verdicts = new KeptVerdicts(() => clock.now());
    this.#opener = options.opener;
    this.#roots = options.roots;
    this.#activeProject = options.activeProject;
    this.#openGit = options.openGit;
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS;
    this.#engines = options.engines ?? ['rg', 'git', 'own'];
    this.#defaultDepth = Math.min(options.defaultDepth, MAX_LIST_DEPTH);
  }

  /** Throws as `PathOpener.openDirectory`, and NO_ACTIVE_PROJECT, INVALID_ARGUMENTS for a cursor, GIT_FAILED. */
  list(query: ListQuery, signal: AbortSignal): Promise<PageFacts & { readonly entries: ListedFile[] }> {
    return untilNoLink(() => this.#list(query, signal));
  }

  async #list(
    query: ListQuery,
    signal: AbortSignal,
  ): Promise<PageFacts & { readonly entries: ListedFile[] }> {
    const entries: ListedFile[] = [];
    const sizes = new SizesAhead(this.#opener.hasDescriptorPaths);
    const budget = new ByteBudget(query.maxBytes ?? DEFAULT_LIST_BYTES);
    const facts = await this.#page(query, signal, USUAL_ENTRY_BYTES, (listed) => {
      const file = listedFile(listed, sizes);
      if (!budget.spend(fileBytes(file) + 1)) return false;
      entries.push(file);
      return true;
    });
    return { ...facts, entries };
  }

  /** Looks at no file, so thousands of names are had in the time that a folder is read. Throws as `list`. */
  names(query: ListQuery, signal: AbortSignal): Promise<NamesPage> {
    return untilNoLink(() => this.#names(query, signal));
  }

  async #names(query: ListQuery, signal: AbortSignal): Promise<NamesPage> {
    const names: string[] = [];
    const entries: ListedFile[] = [];
    const budget = new ByteBudget(query.maxBytes ?? DEFAULT_LIST_BYTES);
    const facts = await this.#page(query, signal, USUAL_NAME_BYTES, (listed) => {
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
  tree(query: ListQuery, signal: AbortSignal): Promise<PageFacts & { readonly tree: string }> {
    return untilNoLink(() => this.#tree(query, signal));
  }

  async #tree(query: ListQuery, signal: AbortSignal): Promise<PageFacts & { readonly tree: string }> {
    const lines: string[] = [];
    const budget = new ByteBudget(query.maxBytes ?? DEFAULT_LIST_BYTES);
    const facts = await this.#page(query, signal, USUAL_ENTRY_BYTES, (listed) => {
      const target = listed.entry.type === 'symlink' ? targetOf(listed) : undefined;
      const line = treeLine(listed, target);
      // As it is written out: quotes and backslashes in names take twice their place.
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

  /** Matches by path, then line. Throws as `list`, and INVALID_ARGUMENTS for what cannot be searched for. */
  search(query: SearchQuery, signal: AbortSignal): Promise<SearchPage & { readonly path: string }> {
    return untilNoLink(() => this.#search(query, signal));
  }

  async #search(query: SearchQuery, signal: AbortSignal): Promise<SearchPage & { readonly path: string }> {
    return this.#walking(query.path, signal, async (walk, { path, stats, isNear }, git, over) => {
      const timeLimitMs = this.#patienceMs;
      const { env, askingEnv } = await git.inTop(path, walk.topPlace);
      const run = { cwd: walk.topPlace, env, signal: over, timeLimitMs };
      const asking = { ...run, env: askingEnv };
      const { hasDescriptorPaths } = this.#opener;
      // Whatever reads the rules would wait for them for ever.
      const engines: readonly SearchEngine[] = gitCanReadRules(path) ? this.#engines : ['own'];
      const looksLikeRepository = hasGitAbove(path);
      const verdicts = async () => (isNear ? this.#verdicts.of(path, Number(stats.dev), asking) : undefined);
      const place = { walk, path, hasDescriptorPaths, run, engines, looksLikeRepository, verdicts };
      // Listings need none of it, and the engine of regular expressions is large.
      const { searchFolder } = await import('./search-folder.js');
      const page = await searchFolder(place, query, query.maxBytes ?? DEFAULT_LIST_BYTES);
      return { path, ...page };
    });
  }

  async #page(
    query: ListQuery,
    signal: AbortSignal,
    usualBytes: number,
    take: (listed: ListedEntry) => boolean,
  ): Promise<PageFacts> {
    const after = query.cursor === undefined ? undefined : positionOf(query.cursor);
    return this.#walking(query.path, signal, async (walk, { path }) => {
      const expected = Math.ceil((query.maxBytes ?? DEFAULT_LIST_BYTES) / usualBytes);
      const depth = query.depth ?? this.#defaultDepth;
      const end = await listPage({ walk, depth, after, expected, take });
      return factsOf(path, end);
    });
  }

  async #walking<T>(
    input: string | undefined,
    signal: AbortSignal,
    use: (walk: FolderWalk, top: OpenedDirectory, git: WalkGit, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const top = await this.#opened(input);
    // Ends what is still under way when the page is full.
    const over = new AbortController();
    const both = AbortSignal.any([signal, over.signal]);
    // Each git of it listens.
    setMaxListeners(0, both);
    const git = new WalkGit(this.#openGit, both);
    const walk = new FolderWalk({
      top,
      hasDescriptorPaths: this.#opener.hasDescriptorPaths,
      rulesFor: (path, place) =>
        this.#rulesFor(path, place, { git, isFirst: path === top.path, signal: both }),
      kept: this.#kept,
      signal: both,
    });
    try {
      return await use(walk, top, git, both);
    } catch (thrown) {
      // Perhaps it takes the folder for none of its work trees any more: the next call asks it.
      if (thrown instanceof BridgeError && thrown.code === 'GIT_FAILED') this.#workTrees.forget();
      throw thrown;
    } finally {
      over.abort(new Error('The listing is over.'));
      await walk.end();
      await git.dispose();
      await top.handle.close();
    }
  }

  async #opened(path: string | undefined): Promise<OpenedDirectory> {
    const input =
      path === undefined ? await this.#activeProject.resolve() : this.#activeProject.absolute(path);
    return this.#opener.openDirectory(input);
  }

  /** git's own rules in a repository; else those of the ignore files, also of the folders above within the roots. */
  async #rulesFor(
    path: string,
    place: string,
    {
      git,
      isFirst,
      signal,
    }: { readonly git: WalkGit; readonly isFirst: boolean; readonly signal: AbortSignal },
  ): Promise<IgnoreRules> {
    if (gitCanReadRules(path) && hasGitAbove(path)) {
      const { env } = await (isFirst ? git.inTop(path, place) : git.in(path, place));
      const run = { cwd: place, env, signal };
      if (await this.#workTrees.has(run, path)) return new RulesOfGit(run, this.#patienceMs / 2, isFirst);
    }
    const above: FolderAbove[] = [];
    for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
      if ((await this.#roots.admit(folder)) === undefined) break;
      above.unshift({ path: folder, prefix: `${relative(folder, path)}/` });
    }
    return new RulesOfFiles(above);
  }
}

/** Once more when a folder became a link between the look at it and git's: the next look takes it for one. */
async function untilNoLink<T>(look: () => Promise<T>): Promise<T> {
  for (let left = MAX_LOOKS; ; left--) {
    try {
      return await look();
    } catch (thrown) {
      if (left === 1 || !isBeyondLink(thrown)) throw thrown;
    }
  }
}

function listedFile(listed: ListedEntry, sizes: SizesAhead): ListedFile {
  const { entry, note } = listed;
  const { type } = entry;
  const size = type === 'file' ? sizes.of(listed) : undefined;
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

/** Of a file, or a folder; undefined where the name alone would not tell what it is. */
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

function factsOf(path: string, { last, more, note }: PageEnd): PageFacts {
  return {
    path,
    ...(note !== undefined && { note }),
    ...(last !== undefined && { more, cursor: cursorAt(last) }),
  };
}
