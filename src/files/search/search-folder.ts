import { globFilter } from './glob-filter.js';
import { searchByRipgrep } from './search-by-ripgrep.js';
import { searchByWalk, searchNames } from './search-by-walk.js';
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
  const page = new SearchPageBuilder(bytes, search.after);
  if (query.names === true) return searchNames(place, search, page);
  for (const engine of place.engines) {
    const answer =
      engine === 'own' ? await searchByWalk(place, search, page) : await searchByRipgrep(place, search, page);
    if (answer !== undefined) return answer;
  }
  return searchByWalk(place, search, page);
}
