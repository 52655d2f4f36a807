import { BridgeError } from '../../base/errors.js';
import { compareText } from '../list/list-order.js';
import { NotSearched } from './not-searched.js';
import { isBehind, type SearchPage, type SearchPageBuilder } from './search-page.js';
import type { Search, SearchPlace } from './search-place.js';
import { shownFiles } from './shown-files.js';
import { textSearch } from './search-text.js';
import { textOfFile } from './text-of-file.js';

/** Matches in paths, in order. */
export async function searchNames(
  place: SearchPlace,
  { find, takesPath, after }: Search,
  page: SearchPageBuilder,
): Promise<SearchPage> {
  for (const path of await shownPaths(place)) {
    const isNext = after === undefined || compareText(path, after.p) > 0;
    if (isNext && takesPath(path) && find(path) >= 0 && !page.take({ path })) return page.cut(notesOf(place));
    if (place.walk.pause.isDue()) await place.walk.pause.wait();
  }
  return page.whole(notesOf(place));
}

/** Matches in the lines of files, which are read one by one: without ripgrep, and where it would wait or read the query differently. */
export async function searchByWalk(
  place: SearchPlace,
  search: Search,
  page: SearchPageBuilder,
): Promise<SearchPage> {
  const { walk, path: top, hasDescriptorPaths, timeLimitMs } = place;
  const { takesPath, after, context, find, pieceChars, isRegex, query } = search;
  const deadlineMs = performance.now() + timeLimitMs;
  const skipped = new NotSearched();
  for (const path of await shownPaths(place, deadlineMs)) {
    if (!takesPath(path) || !isBehind(path, after)) continue;
    const file = textOfFile(`${top === '/' ? '' : top}/${path}`, hasDescriptorPaths);
    skipped.count(file);
    if (file.state === 'text') {
      const goOn = textSearch({
        text: file.text,
        find,
        pieceChars,
        context,
        afterLine: path === after?.p ? after.l : 0,
        fixed: isRegex ? undefined : query,
        pause: walk.pause,
        take: (match) => page.take({ path, ...match }),
      });
      let end = goOn();
      for (; end === 'due'; end = goOn()) await walk.pause.wait();
      if (end === 'full') return page.cut(notesOf(place));
    }
    page.passed(path);
    if (walk.pause.isDue()) await walk.pause.wait();
    if (performance.now() > deadlineMs)
      return page.cut('The search took too long and is not complete; go on with the cursor.');
  }
  return page.whole(notesOf(place, skipped.note()));
}

/** The files that may be searched, in order. Throws SEARCH_FAILED when it takes too long to list them. */
async function shownPaths(
  { walk, timeLimitMs }: Pick<SearchPlace, 'walk' | 'timeLimitMs'>,
  deadlineMs = performance.now() + timeLimitMs,
): Promise<string[]> {
  const paths: string[] = [];
  for await (const part of shownFiles(walk)) {
    for (const path of part) paths.push(path);
    if (performance.now() > deadlineMs) throw tooSlow();
  }
  // As `compareText`.
  return paths.sort();
}

/** What the walk and the search have to say. */
function notesOf({ walk }: SearchPlace, ...notes: readonly (string | undefined)[]): string | undefined {
  const all = [...walk.notes.map((note) => `Note: ${note}.`), ...notes.filter((note) => note !== undefined)];
  return all.length === 0 ? undefined : all.join(' ');
}

function tooSlow(): BridgeError {
  return new BridgeError(
    'SEARCH_FAILED',
    'The files of the folder could not be listed in time.',
    'Search a smaller folder with path.',
  );
}
