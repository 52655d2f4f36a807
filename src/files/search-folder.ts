import { z } from 'zod';
import type { GitRun } from './git-listing.js';
import { ByteBudget } from './list-budget.js';
import { invalidCursor, jsonOf } from './list-cursor.js';
import { compareText, isHidden } from './list-order.js';
import { candidates, everyFile } from './search-candidates.js';
import type { SearchEngine } from './search-engine.js';
import { textOfFile } from './search-file.js';
import { finder, globFilter } from './search-query.js';
import { searchText, type TextMatch } from './search-text.js';
import type { FolderWalk } from './walk-folder.js';

/** Well below the 45 s in which every call answers. */
const TIME_LIMIT_MS = 20_000;
/** Files that are judged together: a few at first, since a page may need no more. */
const FIRST_PART = 64;
const MAX_PART = 1_024;

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
  readonly matches: FoundMatch[];
  readonly note?: string;
  readonly cursor?: string;
}

export interface SearchPlace {
  readonly walk: FolderWalk;
  readonly path: string;
  readonly hasDescriptorPaths: boolean;
  readonly run: GitRun;
  readonly engines: readonly SearchEngine[];
  /** Whether the folder looks like part of a repository. */
  readonly looksLikeRepository: boolean;
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
  const found =
    query.names === true
      ? await everyFile(place.walk, place.run)
      : await candidates({ ...place, query: query.query, isRegex: query.regex ?? false });
  const paths = [...found.paths]
    .filter((path) => takesPath(path) && !path.split('/').some(isHidden))
    .filter((path) => after === undefined || compareText(path, after.p) >= 0)
    .sort(compareText);
  const { pause } = place.walk;
  const budget = new ByteBudget(bytes);
  const matches: FoundMatch[] = [];
  const take = (match: FoundMatch): boolean => {
    if (!budget.spend(Buffer.byteLength(JSON.stringify(match)) + 1)) return false;
    matches.push(match);
    return true;
  };
  const above = place.path === '/' ? '/' : `${place.path}/`;
  let last = after;
  const cut = (note?: string): SearchPage => ({
    matches,
    ...(note !== undefined && { note }),
    ...(last !== undefined && { cursor: cursorOf(last) }),
  });
  for await (const path of inParts(paths, found.visible)) {
    if (pause.isDue()) await pause.wait();
    if (performance.now() > deadlineMs) return cut('The time limit came first; go on with the cursor.');
    const afterLine = path === after?.p ? after.l : 0;
    if (query.names === true) {
      if (afterLine > 0 || find(path) < 0) continue;
      if (!take({ path })) return cut();
      last = { p: path, l: 1 };
      continue;
    }
    const text = textOfFile(`${above}${path}`, place.hasDescriptorPaths);
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

/** The visible ones of `paths`, in order; the next part is judged while the present one is searched. */
async function* inParts(
  paths: readonly string[],
  visible: (paths: readonly string[]) => Promise<ReadonlySet<string>>,
): AsyncGenerator<string> {
  const judge = async (from: number, count: number): Promise<readonly string[]> => {
    const part = paths.slice(from, from + count);
    const shown = await visible(part);
    return part.filter((path) => shown.has(path));
  };
  if (paths.length === 0) return;
  let count = FIRST_PART;
  let next = judge(0, count);
  for (let from = 0; from < paths.length;) {
    const part = await next;
    from += count;
    count = Math.min(MAX_PART, 2 * count);
    next = from < paths.length ? judge(from, count) : Promise.resolve([]);
    // Whoever awaits it hears of it; nobody does when the page is full.
    next.catch(() => undefined);
    yield* part;
  }
}

function cursorOf(position: z.infer<typeof cursorSchema>): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

function positionOf(cursor: string): z.infer<typeof cursorSchema> {
  const parsed = cursorSchema.safeParse(jsonOf(cursor));
  if (!parsed.success) throw invalidCursor();
  return parsed.data;
}
