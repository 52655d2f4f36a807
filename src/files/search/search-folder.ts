import { globFilter } from './glob-filter.js';
import { NotSearched } from './not-searched.js';
import { searchByRipgrep } from './search-by-ripgrep.js';
import { searchByWalk, searchNames } from './search-by-walk.js';
import type { RunningSearch } from './search-file.js';
import { SearchPageBuilder, searchPositionOf, type SearchPage } from './search-page.js';
import type { Search, SearchScope } from './search-scope.js';
import { finder, type SearchQuery } from './search-query.js';

/** One page of matches, sorted by path, then line. Throws INVALID_ARGUMENTS, SEARCH_FAILED. */
export async function searchFolder(
  scope: SearchScope,
  query: SearchQuery,
  bytes: number,
): Promise<SearchPage> {
  const isRegex = query.regex ?? false;
  // A name may be written with composed or with combining characters, which look the same.
  const found = finder(query.names === true ? query.query.normalize('NFC') : query.query, isRegex);
  const find = query.names === true ? (name: string) => found.find(name.normalize('NFC')) : found.find;
  const search: Search = {
    query: query.query,
    isRegex,
    context: query.context ?? 0,
    bytes,
    ...found,
    find,
    matchesGlob: globFilter(query.glob),
    after: searchPositionOf(query.cursor, query.names ?? false),
  };
  const at: RunningSearch = {
    scope,
    search,
    page: new SearchPageBuilder(bytes, search.after, query.names ?? false),
    skipped: new NotSearched(),
    deadlineMs: performance.now() + scope.timeLimitMs,
  };
  if (query.names === true) return searchNames(at);
  for (const engine of scope.engines) {
    const answer = engine === 'own' ? await searchByWalk(at) : await searchByRipgrep(at);
    if (answer !== undefined) return answer;
  }
  return searchByWalk(at);
}
