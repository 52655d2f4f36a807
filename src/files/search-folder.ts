import { z } from 'zod';
import { oneLine, someNames } from '../base/text.js';
import { isSecretName } from '../projects/secret-names.js';
import type { GitRun } from './git-listing.js';
import type { Verdicts } from './verdicts.js';
import { ByteBudget } from './list-budget.js';
import { invalidCursor, jsonOf } from './list-cursor.js';
import { compareText, isHidden } from './list-order.js';
import { candidates, everyFile } from './search-candidates.js';
import type { SearchEngine } from './search-engine.js';
import { FILES_TOGETHER, textsOfFiles } from './search-file.js';
import { finder, globFilter, type Finder } from './search-query.js';
import { textSearch, type TextMatch } from './search-text.js';
import type { FolderWalk } from './walk-folder.js';
import type { WalkPause } from './walk-pause.js';

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
  /** What git said at earlier searches, when that is kept. */
  readonly verdicts: () => Promise<Verdicts | undefined>;
}

const cursorSchema = z.strictObject({ p: z.string().min(1), l: z.int().min(0) });
type Position = z.infer<typeof cursorSchema>;

/** One page of matches by path, then line. Throws INVALID_ARGUMENTS, GIT_FAILED. */
export async function searchFolder(
  place: SearchPlace,
  query: SearchQuery,
  bytes: number,
): Promise<SearchPage> {
  const isRegex = query.regex ?? false;
  const sought = finder(query.query, isRegex);
  const takesPath = globFilter(query.glob);
  const after = query.cursor === undefined ? undefined : positionOf(query.cursor);
  const deadlineMs = performance.now() + TIME_LIMIT_MS;
  const found =
    query.names === true
      ? await everyFile(place.walk, place.run)
      : await candidates({ ...place, query: query.query, isRegex });
  const paths = [...found.paths]
    .filter((path) => takesPath(path) && !isBelowHidden(path))
    .filter((path) => after === undefined || compareText(path, after.p) >= 0)
    // As `compareText`, which would be called ten times for each path.
    .sort();
  const page = (parts: Parts<SearchedFile>): Promise<SearchPage> =>
    pageOf(parts, { query, sought, after, bytes, deadlineMs, pause: place.walk.pause });
  const known = found.known?.(paths);
  if (known !== undefined) {
    const answer = await page(known.texts());
    if (known.held()) return answer;
  }
  const visible = found.visible(paths);
  return page(query.names === true ? namesOnly(visible) : withTexts(place, visible));
}

interface PageOptions {
  readonly query: SearchQuery;
  readonly sought: Finder;
  /** Matches up to here were on earlier pages. */
  readonly after: Position | undefined;
  readonly bytes: number;
  readonly deadlineMs: number;
  readonly pause: WalkPause;
}

async function pageOf(
  parts: Parts<SearchedFile>,
  { query, sought, after, bytes, deadlineMs, pause }: PageOptions,
): Promise<SearchPage> {
  const budget = new ByteBudget(bytes);
  const matches: FoundMatch[] = [];
  const secrets: string[] = [];
  let last = after;
  const take = (match: FoundMatch): boolean => {
    if (!budget.spend(Buffer.byteLength(JSON.stringify(match)) + 1)) return false;
    matches.push(match);
    last = { p: match.path, l: match.line ?? 1 };
    return true;
  };
  const cut = (note?: string): SearchPage => ({
    ...answerOf(matches, secrets, note),
    ...(last !== undefined && { cursor: cursorOf(last) }),
  });
  for await (const part of parts) {
    for (const { path, text } of part) {
      if (pause.isDue()) await pause.wait();
      // The first file of a page is always searched, so that its cursor is another one.
      if (last !== after && performance.now() > deadlineMs) return cut(GO_ON);
      const afterLine = path === after?.p ? after.l : 0;
      if (query.names === true) {
        if (afterLine === 0 && sought.find(path) >= 0 && !take({ path })) return cut();
      } else if (isSecretName(path)) {
        secrets.push(path);
      } else if (text !== undefined) {
        const goOn = textSearch({
          ...sought,
          text,
          context: query.context ?? 0,
          afterLine,
          fixed: query.regex === true ? undefined : query.query,
          pause,
          take: (match) => take({ path, ...match }),
        });
        let end = goOn();
        for (; end === 'due'; end = goOn()) {
          await pause.wait();
          if (performance.now() <= deadlineMs) continue;
          // A file that had the whole time of this page would end no sooner in the next one.
          if (last !== after) return cut(GO_ON);
          last = { p: path, l: Number.MAX_SAFE_INTEGER };
          return cut(
            `${oneLine(path, SHOWN_CHARS)} was not searched to its end: it takes too long. ${GO_ON}`,
          );
        }
        if (end === 'full') return cut();
        // What has no match is not looked at again by the next page.
        last = { p: path, l: Number.MAX_SAFE_INTEGER };
      }
    }
  }
  if (matches.length > 0 || after !== undefined) return answerOf(matches, secrets);
  return answerOf(matches, secrets, query.names === true ? NAMES_LEFT_OUT : TEXTS_LEFT_OUT);
}

function answerOf(matches: FoundMatch[], secrets: readonly string[], note?: string): SearchPage {
  const leftOut =
    secrets.length === 0
      ? []
      : [
          `Not searched, because by their names they hold secrets: ${someNames(secrets)}. read_file shows one.`,
        ];
  const notes = [...leftOut, ...(note === undefined ? [] : [note])];
  return { matches, ...(notes.length > 0 && { note: notes.join(' ') }) };
}

const GO_ON = 'The time limit came first; go on with the cursor.';
const SHOWN_CHARS = 400;
/** A search that finds nothing says where it did not look. */
const NAMES_LEFT_OUT = 'Hidden and ignored files were left out.';
const TEXTS_LEFT_OUT =
  'Not searched: hidden and ignored files, files over 10 MB, binary files, and text that is not UTF-8.';

interface SearchedFile {
  readonly path: string;
  /** Undefined for what has none, or when it is not asked for. */
  readonly text?: string | undefined;
}

type Parts<T> = AsyncIterable<readonly T[]> | Iterable<readonly T[]>;

async function* namesOnly(parts: Parts<string>): AsyncGenerator<readonly SearchedFile[]> {
  for await (const part of parts) yield part.map((path) => ({ path }));
}

/** A few at a time, just before they are searched. */
async function* withTexts(
  { walk, path, hasDescriptorPaths }: SearchPlace,
  parts: Parts<string>,
): AsyncGenerator<readonly SearchedFile[]> {
  const above = path === '/' ? '/' : `${path}/`;
  for await (const part of parts) {
    for (let at = 0; at < part.length;) {
      if (walk.pause.isDue()) await walk.pause.wait();
      const next = part.slice(at, at + FILES_TOGETHER);
      const full = next.map((relative) => above + relative);
      const texts = textsOfFiles(full, hasDescriptorPaths, () => walk.pause.isDue());
      yield texts.map((text, index) => ({ path: next[index] ?? '', text }));
      at += texts.length;
    }
  }
}

function isBelowHidden(path: string): boolean {
  return (path.startsWith('.') || path.includes('/.')) && path.split('/').some(isHidden);
}

function cursorOf(position: Position): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

function positionOf(cursor: string): Position {
  const parsed = cursorSchema.safeParse(jsonOf(cursor));
  if (!parsed.success) throw invalidCursor();
  return parsed.data;
}
