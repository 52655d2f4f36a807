import { globFilter } from './glob-filter.js';
import { NotSearched } from './not-searched.js';
import { searchByRipgrep } from './search-by-ripgrep.js';
import { searchByWalk, searchNames } from './search-by-walk.js';
import type { Searching } from './search-file.js';
import { SearchPageBuilder, searchPositionOf, type SearchPage } from './search-page.js';
import type { Search, SearchPlace } from './search-place.js';
import { finder, type SearchQuery } from './search-query.js';

/** One page of matches by path, then line. Throws INVALID_ARGUMENTS, GIT_FAILED, SEARCH_FAILED. */
export async function searchFolder(
  place: SearchPlace,
  query: SearchQuery,
  bytes: number,
): Promise<SearchPage> {
  const isRegex = query.regex ?? false;
  const search: Search = {
    query: query.query,
    isRegex,
    context: query.context ?? 0,
    bytes,
    ...finder(query.query, isRegex),
    takesPath: globFilter(query.glob),
    after: searchPositionOf(query.cursor),
  };
  const at: Searching = {
    place,
    search,
    page: new SearchPageBuilder(bytes, search.after),
    skipped: new NotSearched(),
    deadlineMs: performance.now() + place.timeLimitMs,
  };
  if (query.names === true) return searchNames(at);
  for (const engine of place.engines) {
    const answer = engine === 'own' ? await searchByWalk(at) : await searchByRipgrep(at);
    if (answer !== undefined) return answer;
  }
  return searchByWalk(at);
}
