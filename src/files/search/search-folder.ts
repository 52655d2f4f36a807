import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { systemCodeOf } from '../../base/errors.js';
import { someNames } from '../../base/text.js';
import type { FolderWalk } from '../list/walk-folder.js';
import { FileMatches } from './file-matches.js';
import { RipgrepEvents } from './ripgrep-events.js';
import { runRipgrep, type Ripgrep } from './run-ripgrep.js';
import {
  orderKey,
  SearchPageBuilder,
  searchPositionOf,
  type SearchPage,
  type SearchPosition,
} from './search-page.js';
import { requireUsable, type SearchQuery } from './search-query.js';
import { ShownFiles } from './shown-files.js';

/** Larger files are not searched: they are data or logs of programs. */
const MAX_SEARCHED_BYTES = 10_000_000;
const TOO_SLOW_NOTE =
  'The search took too long and was stopped: there may be more matches after these. Search a smaller folder with path.';
/** Files that the walk shows, whatever ignore files say. */
const EVERY_FILE = ['--no-ignore', '--hidden', '--no-follow', '--sort=path', '--glob=!.git'];

/** The folder of a search: its walk shows every file to search, and ripgrep runs in it. */
export interface SearchScope {
  readonly walk: FolderWalk;
  readonly ripgrep: Ripgrep;
}

interface RunningSearch extends SearchScope {
  readonly query: SearchQuery;
  readonly after: SearchPosition | undefined;
  readonly shown: ShownFiles;
  readonly page: SearchPageBuilder;
  /** Sentences about single files. */
  readonly notes: string[];
}

/** One page of matches, sorted by path, then line. Throws INVALID_ARGUMENTS, SEARCH_FAILED. */
export async function searchFolder(
  scope: SearchScope,
  query: SearchQuery,
  bytes: number,
): Promise<SearchPage> {
  requireUsable(query);
  const names = query.names ?? false;
  const after = searchPositionOf(query.cursor, names);
  const shown = new ShownFiles(scope.walk, scope.ripgrep.deadlineMs);
  await shown.read();
  const page = new SearchPageBuilder(bytes);
  const at: RunningSearch = { ...scope, query, after, shown, page, notes: [] };
  const isWhole = names ? await searchNames(at) : await searchLines(at);
  const all = [...shown.notes(), ...at.notes, ...(isWhole ? [] : [TOO_SLOW_NOTE])];
  return page.page(all.length === 0 ? undefined : all.join(' '));
}

/** Searches the lines of the shown files. Returns false when the time is over. */
async function searchLines(at: RunningSearch): Promise<boolean> {
  const { ripgrep, query, shown, page } = at;
  shown.leaveOutSecrets();
  const found = new FoundLines(at);
  const events = new RipgrepEvents(found);
  const isWhole = await runRipgrep(ripgrep, {
    args: [
      ...EVERY_FILE,
      ...globArguments(query),
      ...shown.excludes(),
      `--max-filesize=${MAX_SEARCHED_BYTES}`,
      `--context=${query.context ?? 0}`,
      ...matchArguments(query.query, query.regex),
      './',
    ],
    push: (chunk) => void events.push(chunk),
    isEnough: () => page.isFull,
    isWhole: () => events.isWhole,
  });
  at.notes.push(...found.notes());
  return isWhole;
}

/** Searches the paths of the shown files as lines. Returns false when the time is over. */
async function searchNames(at: RunningSearch): Promise<boolean> {
  const { ripgrep, query, after, shown, page } = at;
  const isAmong = query.glob === undefined ? undefined : await pathsOfGlob(at);
  const last = after && orderKey(after.p);
  const keys = [...shown.paths].filter((path) => isAmong?.has(path) ?? true).map(orderKey);
  const paths = keys
    .filter((key) => last === undefined || key > last)
    .sort()
    .map((key) => Buffer.from(key, 'latin1').toString().replaceAll('\0', '/'));
  const events = new RipgrepEvents({
    begin: () => true,
    replacedName: () => undefined,
    line: ({ line }) => void paths.slice(line - 1, line).forEach((path) => page.take({ path })),
    tooLarge: () => undefined,
    end: () => undefined,
  });
  return runRipgrep(ripgrep, {
    // A name may be written with composed or with combining characters, which look the same.
    args: [...matchArguments(query.query.normalize('NFC'), query.regex), '-'],
    input: Buffer.from(paths.map((path) => `${path.replaceAll('\n', ' ').normalize('NFC')}\n`).join('')),
    push: (chunk) => void events.push(chunk),
    isEnough: () => page.isFull,
    isWhole: () => events.isWhole,
  });
}

/** The paths of files that the glob of the query matches. */
async function pathsOfGlob({ ripgrep, query, shown }: RunningSearch): Promise<ReadonlySet<string>> {
  const chunks: Buffer[] = [];
  await runRipgrep(ripgrep, {
    args: ['--files', '--null', ...EVERY_FILE, ...globArguments(query), ...shown.excludes(), './'],
    push: (chunk) => void chunks.push(chunk),
    isEnough: () => false,
  });
  const paths = Buffer.concat(chunks).toString().split('\0');
  return new Set(paths.map((path) => path.replace(/^\.\//, '')));
}

function globArguments({ glob }: SearchQuery): string[] {
  // Each further glob decides before this one.
  return glob === undefined ? [] : [`--glob=${glob}`];
}

function matchArguments(pattern: string, isRegex: boolean | undefined): string[] {
  return ['--json', '--crlf', ...(isRegex === true ? [] : ['--fixed-strings']), `--regexp=${pattern}`];
}

/** Takes the lines of ripgrep into a page. */
class FoundLines {
  readonly #at: RunningSearch;
  /** The real path of the searched folder. */
  readonly #top: string;
  readonly #afterKey: string | undefined;
  readonly #binary: string[] = [];
  readonly #long: string[] = [];
  #replacedNames = 0;
  #path = '';
  #file: FileMatches | undefined;

  constructor(at: RunningSearch) {
    this.#at = at;
    this.#top = realpathSync(at.ripgrep.cwd);
    this.#afterKey = at.after && orderKey(at.after.p);
  }

  begin(path: string): boolean {
    const { shown, after, query, page } = this.#at;
    if (!shown.paths.has(path) || (this.#afterKey !== undefined && orderKey(path) < this.#afterKey))
      return false;
    if (!this.#isInside(path)) return false;
    this.#path = path;
    this.#file = new FileMatches({
      path,
      context: query.context ?? 0,
      afterLine: path === after?.p ? (after.l ?? 0) : 0,
      take: (match) => page.take(match),
    });
    return true;
  }

  replacedName(): void {
    this.#replacedNames++;
  }

  line(line: Parameters<FileMatches['add']>[0]): void {
    this.#file?.add(line);
  }

  tooLarge(): void {
    if (this.#long.at(-1) !== this.#path) this.#long.push(this.#path);
  }

  end(isBinary: boolean): void {
    this.#file?.end();
    if (isBinary) this.#binary.push(this.#path);
  }

  notes(): string[] {
    return [
      ...(this.#binary.length > 0 ? [`Searched only up to a NUL: ${someNames(this.#binary)}.`] : []),
      ...(this.#long.length > 0 ? [`Found in lines too long to show: ${someNames(this.#long)}.`] : []),
      ...(this.#replacedNames > 0
        ? [`Files not shown because their names are not UTF-8: ${this.#replacedNames}.`]
        : []),
    ];
  }

  /** False for a path that leads through a link by now: ripgrep may have read another file. */
  #isInside(path: string): boolean {
    try {
      return realpathSync(join(this.#top, path)) === join(this.#top, path);
    } catch (thrown) {
      if (systemCodeOf(thrown) === undefined) throw thrown;
      return false;
    }
  }
}
