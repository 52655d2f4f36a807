import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { BridgeError, systemCodeOf } from '../../base/errors.js';
import { cursorText, invalidCursor, readCursor } from '../../base/input.js';
import { someNames } from '../../base/text.js';
import { isSecretName } from '../../projects/secret-names.js';
import type { FolderWalk, WalkedFolder } from '../folder-walk.js';
import { ByteBudget } from '../list-page.js';
import { Enough, runRipgrep, searchWith, type Ripgrep, type RipgrepLine } from './ripgrep.js';
import { requireUsable, type SearchQuery } from './search-query.js';

/** Larger files are not searched: they are data or logs of programs. */
const MAX_SEARCHED_BYTES = 10_000_000;
/** A match with its path and line takes more of a page: a file with more of them than fit is not read on. */
const MIN_MATCH_BYTES = 40;
/** The most bytes of ripgrep's arguments that name what it need not read: systems allow a megabyte and more. */
const MAX_ARGUMENT_BYTES = 200_000;
/** Enough of a line to understand the match, and the part of it before the match. */
const SHOWN_LINE_CHARS = 300;
const LEAD_CHARS = 100;
const TOO_SLOW_NOTE =
  'The search took too long and was stopped: there may be more matches after these. Search a smaller folder with path.';
/** Files that the walk shows, whatever ignore files say. */
const EVERY_FILE = ['--no-ignore', '--hidden', '--no-follow', '--sort=path', '--glob=!.git'];

/** The last file and line on earlier pages; without a line in a search for names. */
const positionSchema = z.strictObject({ p: z.string().min(1), l: z.int().min(1).optional() });
/** What the last search of lines left out, and where. */
let last: { readonly where: string; readonly leftOut: readonly string[] } | undefined;

export interface FoundMatch {
  readonly path: string;
  /** From 1. */
  readonly line?: number;
  /** Column of the first match in the line, from 1, in UTF-16 units. */
  readonly column?: number;
  readonly text?: string;
  readonly before?: string[];
  readonly after?: string[];
}

export interface SearchPage {
  readonly matches: FoundMatch[];
  readonly note?: string;
  readonly cursor?: string;
}

/** The folder of a search: its walk shows every file to search, and ripgrep runs in it. */
export interface SearchScope {
  readonly walk: FolderWalk;
  readonly ripgrep: Ripgrep;
}

/** One page of matches, sorted by path, then line. Throws INVALID_ARGUMENTS, SEARCH_FAILED. */
export async function searchFolder(
  scope: SearchScope,
  query: SearchQuery,
  bytes: number,
): Promise<SearchPage> {
  requireUsable(query);
  const search = new Search(scope, query, bytes);
  const first = scope.walk.first();
  const isWhole = query.names === true ? await search.names(await first) : await search.lines(first);
  return search.page(isWhole);
}

/** A text whose order is that of `rg --sort path`: by the bytes of each name, folder by folder. */
function orderKey(path: string): string {
  return Buffer.from(path.replaceAll('/', '\0')).toString('latin1');
}

/** One search. ripgrep reads the files that the walk shows; what it finds elsewhere is dropped. */
class Search {
  readonly #scope: SearchScope;
  readonly #query: SearchQuery;
  readonly #after: z.infer<typeof positionSchema> | undefined;
  readonly #afterKey: string | undefined;
  readonly #bytes: number;
  readonly #budget: ByteBudget;
  readonly #matches: FoundMatch[] = [];
  /** True when a match did not fit any more. */
  #isFull = false;
  /** The files and links that the walk shows. */
  readonly #paths = new Set<string>();
  readonly #secrets: string[] = [];
  /** Folders that were not read, each with why. */
  readonly #unread: { readonly path: string; readonly why: string }[] = [];
  readonly #binary: string[] = [];
  readonly #long = new Set<string>();
  #replacedNames = 0;

  constructor(scope: SearchScope, query: SearchQuery, bytes: number) {
    this.#scope = scope;
    this.#query = query;
    this.#bytes = bytes;
    this.#budget = new ByteBudget(bytes);
    this.#after = query.cursor === undefined ? undefined : readCursor(positionSchema, query.cursor);
    this.#afterKey = this.#after && orderKey(this.#after.p);
    if (this.#after !== undefined && (this.#after.l === undefined) !== (query.names === true))
      throw invalidCursor();
  }

  /** Walks through all folders. Throws SEARCH_FAILED when it takes too long. */
  async #readFiles(folder: WalkedFolder): Promise<void> {
    const { walk, ripgrep } = this.#scope;
    const prefix = folder.relative === '' ? '' : `${folder.relative}/`;
    for (const { name, type } of folder.entries)
      if (type === 'file' || type === 'symlink') this.#paths.add(`${prefix}${name}`);
    await walk.pause();
    if (performance.now() > ripgrep.deadlineMs) throw tooSlow();
    for (const { name, isFolder } of folder.entries) {
      if (!isFolder) continue;
      const below = await walk.below(folder, name);
      if (below.note !== undefined) this.#unread.push({ path: below.relative, why: below.note });
      await this.#readFiles(below);
      walk.close(below);
    }
  }

  /** Searches the lines of the shown files. Returns false when the time is over. */
  async lines(first: Promise<WalkedFolder>): Promise<boolean> {
    const walked = first.then(async (folder) => {
      await this.#readFiles(folder);
      for (const path of this.#paths) if (isSecretName(path)) this.#secrets.push(path);
      for (const path of this.#secrets) this.#paths.delete(path);
    });
    try {
      const where = `${realpathSync(this.#scope.ripgrep.cwd)} ${this.#query.ignored ?? false}`;
      const early = last?.where === where ? last.leftOut : undefined;
      const isRight = walked.then(() => {
        const left = new Set(this.#leftOut());
        last = { where, leftOut: [...left] };
        return early?.every((path) => left.has(path)) ?? false;
      });
      // Meanwhile ripgrep searches without what the search before left out: that counts when this one leaves it out, too.
      if (early !== undefined) {
        const ready = isRight.then((is) => {
          if (!is) throw new Enough();
        });
        const isInTime = await this.#scan(early, ready);
        if (await isRight) return isInTime;
      }
      await isRight;
      return await this.#scan(this.#leftOut(), walked);
    } finally {
      // It reads by descriptors that are closed then.
      await walked.catch(() => undefined);
    }
  }

  /** Runs ripgrep, which need not read what is `leftOut`; what it finds is taken once the shown files are known. */
  async #scan(leftOut: readonly string[], ready: Promise<void>): Promise<boolean> {
    const context = this.#query.context ?? 0;
    const top = realpathSync(this.#scope.ripgrep.cwd);
    const size = `--max-filesize=${MAX_SEARCHED_BYTES}`;
    const args = [...this.#fileArguments(leftOut), size, `--context=${context}`, ...this.#pattern(), './'];
    let current = '';
    let found: RipgrepLine[] = [];
    /** Matches up to this line were on earlier pages. */
    let shown = 0;
    const most = (this.#bytes / MIN_MATCH_BYTES + 2) * (1 + 2 * context);
    const takeFile = (): void => {
      for (const match of matchesOf(current, found, context)) if (match.line > shown) this.#take(match);
      found = [];
    };
    const isInTime = await searchWith(
      this.#scope.ripgrep,
      { args, ready, maxHeldBytes: 2 * this.#bytes, isEnough: () => this.#isFull || found.length > most },
      {
        begin: (path) => {
          if (path === undefined) this.#replacedNames++;
          if (path === undefined || !this.#paths.has(path) || !isInside(top, path)) return false;
          if (this.#afterKey !== undefined && orderKey(path) < this.#afterKey) return false;
          current = path;
          shown = path === this.#after?.p ? (this.#after.l ?? 0) : 0;
          return true;
        },
        line: (line) => {
          if (line === undefined) this.#long.add(current);
          else if (line.line > shown - context) found.push(line);
        },
        end: (isBinary) => {
          takeFile();
          if (isBinary) this.#binary.push(current);
        },
      },
    );
    // What was found in a file that was not read to its end.
    takeFile();
    return isInTime;
  }

  /** Searches the paths of the shown files as lines. Returns false when the time is over. */
  async names(first: WalkedFolder): Promise<boolean> {
    await this.#readFiles(first);
    const isAmong = this.#query.glob === undefined ? undefined : await this.#pathsOfGlob();
    const keys = [...this.#paths].filter((path) => isAmong?.has(path) ?? true).map(orderKey);
    const paths = keys
      .filter((key) => this.#afterKey === undefined || key > this.#afterKey)
      .sort()
      .map((key) => Buffer.from(key, 'latin1').toString().replaceAll('\0', '/'));
    // A name may be written with composed or with combining characters, which look the same.
    const input = Buffer.from(
      paths.map((path) => `${path.replaceAll('\n', ' ').normalize('NFC')}\n`).join(''),
    );
    return searchWith(
      this.#scope.ripgrep,
      { args: [...this.#pattern('NFC'), '-'], input, isEnough: () => this.#isFull },
      {
        begin: () => true,
        line: (found) => {
          const path = found && paths[found.line - 1];
          if (path !== undefined) this.#take({ path });
        },
      },
    );
  }

  /** The page, with a cursor when a match did not fit. */
  page(isWhole: boolean): SearchPage {
    const last = this.#matches.at(-1);
    const notes = [...this.#notes(), ...(isWhole ? [] : [TOO_SLOW_NOTE])];
    return {
      matches: this.#matches,
      ...(notes.length > 0 && { note: notes.join(' ') }),
      ...(this.#isFull && last !== undefined && { cursor: cursorText({ p: last.path, l: last.line }) }),
    };
  }

  #take(match: FoundMatch): void {
    this.#isFull ||= !this.#budget.spend(match);
    if (!this.#isFull) this.#matches.push(match);
  }

  #pattern(form?: 'NFC'): string[] {
    const { query, regex } = this.#query;
    const pattern = form === undefined ? query : query.normalize(form);
    return [...(regex === true ? [] : ['--fixed-strings']), `--regexp=${pattern}`];
  }

  /** What the walk does not show, folders first. */
  #leftOut(): readonly string[] {
    const { folders, files } = this.#scope.walk.leftOut;
    return [...folders, ...this.#unread.map(({ path }) => path), ...this.#secrets, ...files];
  }

  /** The glob of the query, and globs that spare ripgrep what is not shown: as many as fit. */
  #fileArguments(leftOut: readonly string[]): string[] {
    const { glob } = this.#query;
    // Each further glob decides before this one.
    const globs = glob === undefined ? [] : [`--glob=${glob}`];
    let bytes = 0;
    for (const path of leftOut) {
      const exclude = `--glob=!/${path.replace(/[^\w/]/gu, '\\$&')}`;
      bytes += Buffer.byteLength(exclude);
      if (bytes > MAX_ARGUMENT_BYTES) break;
      globs.push(exclude);
    }
    return [...EVERY_FILE, ...globs];
  }

  /** The paths of files that the glob of the query matches. */
  async #pathsOfGlob(): Promise<ReadonlySet<string>> {
    const chunks: Buffer[] = [];
    const args = ['--files', '--null', ...this.#fileArguments(this.#leftOut()), './'];
    await runRipgrep(this.#scope.ripgrep, { args, push: (chunk) => void chunks.push(chunk) });
    const paths = Buffer.concat(chunks).toString().split('\0');
    return new Set(paths.map((path) => path.replace(/^\.\//, '')));
  }

  /** Sentences about what was not searched or not shown. */
  #notes(): string[] {
    const folders = this.#unread.map(({ path, why }) => `${path} (${why})`).sort();
    const hasRepository = this.#unread.some(({ why }) => why === 'repository');
    const named = (what: string, names: readonly string[], more = ''): string[] =>
      names.length === 0 ? [] : [`${what}: ${someNames(names)}.${more}`];
    return [
      ...this.#scope.walk.notes.map((note) => `${note.charAt(0).toUpperCase()}${note.slice(1)}.`),
      ...named(
        'Not searched because their names suggest secrets',
        this.#secrets.sort(),
        ' Use read_file to read one.',
      ),
      ...named(
        'Folders not searched',
        folders,
        hasRepository ? ' To search a repository, give it as path.' : '',
      ),
      ...named('Searched only up to a NUL', this.#binary),
      ...named('Found in lines too long to show', [...this.#long]),
      ...(this.#replacedNames > 0
        ? [`Files not shown because their names are not UTF-8: ${this.#replacedNames}.`]
        : []),
    ];
  }
}

/** False for a path that leads through a link by now: ripgrep may have read another file. */
function isInside(top: string, path: string): boolean {
  try {
    return realpathSync.native(join(top, path)) === join(top, path);
  } catch (thrown) {
    if (systemCodeOf(thrown) === undefined) throw thrown;
    return false;
  }
}

/** The matches of a file, from ripgrep's lines in their order, each with `context` lines before and after it. */
function* matchesOf(path: string, lines: readonly RipgrepLine[], context: number) {
  for (const [at, { line, column, text }] of lines.entries()) {
    if (column === undefined) continue;
    const match = { path, line, column: column + 1, text: shownLine(text, column) };
    const beside = lines.slice(Math.max(0, at - context), at + context + 1);
    const shown = (isBefore: boolean): string[] =>
      beside
        .filter(
          (one) => Math.abs(one.line - line) <= context && one.line !== line && one.line < line === isBefore,
        )
        .map((one) => shownLine(one.text, 0));
    yield context === 0 ? match : { ...match, before: shown(true), after: shown(false) };
  }
}

/** The part of the line around `at`, with `…` at the cuts: a copy, since a slice would hold the whole long line in memory. */
function shownLine(line: string, at: number): string {
  if (line.length <= SHOWN_LINE_CHARS) return line;
  const start = at < SHOWN_LINE_CHARS - LEAD_CHARS ? 0 : at - LEAD_CHARS;
  const end = start + SHOWN_LINE_CHARS;
  // Removes half of a surrogate pair at the cuts.
  const part = line.slice(start, end).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
  return Buffer.from(`${start > 0 ? '…' : ''}${part}${end < line.length ? '…' : ''}`).toString();
}

function tooSlow(): BridgeError {
  return new BridgeError(
    'SEARCH_FAILED',
    'The files of the folder could not be listed in time.',
    'Search a smaller folder with path.',
  );
}
