import { BridgeError } from '../../base/errors.js';
import { RESUME, lastPage, notesOf, searchFile, type RunningSearch } from './search-file.js';
import { isAfter, type SearchPage } from './search-page.js';
import { shownFiles } from './shown-files.js';

/** Searches paths, in order. Throws SEARCH_FAILED when listing them takes too long. */
export async function searchNames(at: RunningSearch): Promise<SearchPage> {
  const { page, search, deadlineMs } = at;
  const { pause } = at.scope.walk;
  for await (const path of nextPaths(at)) {
    if (search.find(path) >= 0 && !page.take({ path })) return page.cut(notesOf(at));
    page.passed(path);
    if (pause.isDue()) await pause.wait();
    if (performance.now() > deadlineMs) return page.cut(notesOf(at, RESUME));
  }
  return lastPage(at);
}

/**
 * Searches the lines of files, one file after the other. Used without ripgrep, and when that would block or read the query
 * differently. Throws SEARCH_FAILED when listing the files takes too long.
 */
export async function searchByWalk(at: RunningSearch): Promise<SearchPage> {
  const { pause } = at.scope.walk;
  for await (const path of nextPaths(at)) {
    const end = await searchFile(at, path);
    if (end !== undefined) return end;
    if (pause.isDue()) await pause.wait();
  }
  return lastPage(at);
}

/** The files to search that were not on earlier pages, in order. */
async function* nextPaths({ scope, search, skipped, deadlineMs }: RunningSearch): AsyncGenerator<string> {
  const paths: string[] = [];
  for await (const part of shownFiles(scope.walk, skipped)) {
    for (const path of part) if (isAfter(path, search.after) && search.matchesGlob(path)) paths.push(path);
    if (performance.now() > deadlineMs) throw tooSlow();
  }
  // The same order as `compareText`.
  yield* paths.sort();
}

function tooSlow(): BridgeError {
  return new BridgeError(
    'SEARCH_FAILED',
    'The files of the folder could not be listed in time.',
    'Search a smaller folder with path.',
  );
}
