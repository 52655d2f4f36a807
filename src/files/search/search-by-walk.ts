import { BridgeError } from '../../base/errors.js';
import { GO_ON, lastPage, notesOf, searchFile, type Searching } from './search-file.js';
import { isBehind, type SearchPage } from './search-page.js';
import { shownFiles } from './shown-files.js';

/** Matches in paths, in order. Throws SEARCH_FAILED when it takes too long to list them. */
export async function searchNames(at: Searching): Promise<SearchPage> {
  const { page, search, deadlineMs } = at;
  const { pause } = at.place.walk;
  for await (const path of nextPaths(at)) {
    if (search.find(path) >= 0 && !page.take({ path })) return page.cut(notesOf(at));
    page.passed(path);
    if (pause.isDue()) await pause.wait();
    if (performance.now() > deadlineMs) return page.cut(notesOf(at, GO_ON));
  }
  return lastPage(at);
}

/**
 * Matches in the lines of files, which are read one by one: without ripgrep, and where it would wait or read the query
 * differently. Throws SEARCH_FAILED when it takes too long to list them.
 */
export async function searchByWalk(at: Searching): Promise<SearchPage> {
  const { pause } = at.place.walk;
  for await (const path of nextPaths(at)) {
    const end = await searchFile(at, path);
    if (end !== undefined) return end;
    if (pause.isDue()) await pause.wait();
  }
  return lastPage(at);
}

/** The files that may be searched and were not on earlier pages, in order. */
async function* nextPaths({ place, search, deadlineMs }: Searching): AsyncGenerator<string> {
  const paths: string[] = [];
  for await (const part of shownFiles(place.walk)) {
    for (const path of part) if (isBehind(path, search.after) && search.takesPath(path)) paths.push(path);
    if (performance.now() > deadlineMs) throw tooSlow();
  }
  // As `compareText`.
  yield* paths.sort();
}

function tooSlow(): BridgeError {
  return new BridgeError(
    'SEARCH_FAILED',
    'The files of the folder could not be listed in time.',
    'Search a smaller folder with path.',
  );
}
