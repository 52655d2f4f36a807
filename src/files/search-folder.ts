import { join } from 'node:path';
import { z } from 'zod';
import { listedByGit, type GitRun } from './git-listing.js';
import { ByteBudget } from './list-budget.js';
import { invalidCursor, jsonOf } from './list-cursor.js';
import { compareText, isHidden } from './list-order.js';
import { filesByEngine, type SearchEngine } from './search-engine.js';
import { textOfFile } from './search-file.js';
import { finder, globFilter } from './search-query.js';
import { searchText, type TextMatch } from './search-text.js';
import type { FolderWalk, WalkedFolder } from './walk-folder.js';

/** Well below the 45 s in which every call answers. */
const TIME_LIMIT_MS = 20_000;

export interface SearchQuery {
  readonly query: string;
  readonly path?: string | undefined;
  readonly regex?: boolean | undefined;
  /** Paths are searched, not contents. */
  readonly names?: boolean | undefined;
  readonly glob?: string | undefined;
  readonly context?: number | undefined;
  readonly cursor?: string | undefined;
  readonly maxBytes?: number | undefined;
}

export interface FoundMatch extends Partial<TextMatch> {
  readonly path: string;
}

export interface SearchPage {
  readonly matches: readonly FoundMatch[];
  readonly note?: string;
  readonly cursor?: string;
}

export interface SearchPlace {
  readonly walk: FolderWalk;
  readonly path: string;
  readonly hasDescriptorPaths: boolean;
  readonly run: GitRun;
  readonly engines: readonly SearchEngine[];
}

const cursorSchema = z.strictObject({ p: z.string().min(1), l: z.int().min(0) });

/** One page of matches by path, then line. Throws INVALID_ARGUMENTS, GIT_FAILED. */
export async function searchFolder(
  place: SearchPlace,
  query: SearchQuery,
  bytes: number,
): Promise<SearchPage> {
  const find = finder(query.query, query.regex ?? false);
  const takesPath = globFilter(query.glob);
  const after = query.cursor === undefined ? undefined : positionOf(query.cursor);
  const deadlineMs = performance.now() + TIME_LIMIT_MS;
  const paths = (await candidates(place, query))
    .filter((path) => takesPath(path) && !path.split('/').some(isHidden))
    .sort(compareText);
  const { pause } = place.walk;
  const budget = new ByteBudget(bytes);
  const matches: FoundMatch[] = [];
  const take = (match: FoundMatch): boolean => {
    if (!budget.spend(Buffer.byteLength(JSON.stringify(match)) + 1)) return false;
    matches.push(match);
    return true;
  };
  let last = after;
  const cut = (note?: string): SearchPage => ({
    matches,
    ...(note !== undefined && { note }),
    ...(last !== undefined && { cursor: cursorOf(last) }),
  });
  for (const path of paths) {
    if (after !== undefined && compareText(path, after.p) < 0) continue;
    if (pause.isDue()) await pause.wait();
    if (performance.now() > deadlineMs) return cut('The time limit came first; go on with the cursor.');
    const afterLine = path === after?.p ? after.l : 0;
    if (query.names === true) {
      if (afterLine > 0 || find(path) < 0) continue;
      if (!take({ path })) return cut();
      last = { p: path, l: 1 };
      continue;
    }
    const text = textOfFile(
      join(place.path, path),
      join(place.walk.topPlace, path),
      place.hasDescriptorPaths,
    );
    if (text === undefined) continue;
    const isAll = await searchText({
      text,
      find,
      context: query.context ?? 0,
      afterLine,
      fixed: query.regex === true ? undefined : query.query,
      pause,
      take: (match) => {
        if (!take({ path, ...match })) return false;
        last = { p: path, l: match.line };
        return true;
      },
    });
    if (!isAll) return cut();
    // What has no match is not looked at again by the next page.
    last = { p: path, l: Number.MAX_SAFE_INTEGER };
  }
  return { matches };
}

/** Files that may hold a match; the engine's guess is cut down to what may be shown. */
async function candidates(place: SearchPlace, query: SearchQuery): Promise<string[]> {
  const { walk, run } = place;
  const first = await walk.first();
  const isRepository = first.rules.isGit;
  const asked = { query: query.query, isRegex: query.regex ?? false, isRepository, run };
  const engine = query.names === true ? 'own' : (place.engines[0] ?? 'own');
  const [visible, tracked, found] = await Promise.all([
    isRepository ? listed(run, ['-c', '-o', '--exclude-standard']) : walked(walk, first),
    isRepository ? listed(run, ['-c', '-i', '--exclude-standard']) : [],
    firstAnswer(engine === 'own' ? [] : place.engines, asked),
  ]);
  const isTracked = new Set(tracked);
  const all = [...new Set(visible)].filter((path) => !path.endsWith('/'));
  return found === undefined ? all : all.filter((path) => found.has(path) || isTracked.has(path));
}

async function firstAnswer(
  engines: readonly SearchEngine[],
  query: Parameters<typeof filesByEngine>[1],
): Promise<ReadonlySet<string> | undefined> {
  for (const engine of engines) {
    const found = await filesByEngine(engine, query);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function listed(run: GitRun, args: readonly string[]): Promise<string[]> {
  const paths: string[] = [];
  await listedByGit(run, args, (path) => paths.push(path));
  return paths;
}

/** Every file that is not ignored, where git cannot be asked. */
async function walked(walk: FolderWalk, folder: WalkedFolder): Promise<string[]> {
  const paths: string[] = [];
  for (const { name, type, isFolder } of folder.entries.unordered) {
    if (isFolder) {
      const below = await walk.below(folder, name);
      for (const path of await walked(walk, below)) paths.push(path);
      walk.close(below);
    } else if (type !== 'other') {
      paths.push(folder.relative === '' ? name : `${folder.relative}/${name}`);
    }
  }
  if (walk.pause.isDue()) await walk.pause.wait();
  return paths;
}

function cursorOf(position: z.infer<typeof cursorSchema>): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

function positionOf(cursor: string): z.infer<typeof cursorSchema> {
  const parsed = cursorSchema.safeParse(jsonOf(cursor));
  if (!parsed.success) throw invalidCursor();
  return parsed.data;
}
