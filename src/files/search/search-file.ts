import { oneLine } from '../../base/text/text.js';
import { isSecretName } from '../../projects/secret-names.js';
import type { NotSearched } from './not-searched.js';
import type { SearchPage, SearchPageBuilder } from './search-page.js';
import type { Search, SearchPlace } from './search-place.js';
import { textSearch } from './search-text.js';
import { textOfFile, type FileText } from './text-of-file.js';

export const GO_ON = 'The time limit came first; go on with the cursor.';
const IGNORED_LEFT_OUT = 'Ignored files were left out; ignored: true searches them.';
const SHOWN_CHARS = 400;

/** A search on its way. */
export interface Searching {
  readonly place: SearchPlace;
  readonly search: Search;
  readonly page: SearchPageBuilder;
  readonly skipped: NotSearched;
  /** When the page must end, on the clock of `performance.now`. */
  readonly deadlineMs: number;
}

/**
 * Takes the matches in the lines of one file, read by this program itself. Returns the page when it ends here: it is full, or its
 * time is over. Its cursor is always behind the one before.
 */
export async function searchFile(at: Searching, path: string): Promise<SearchPage | undefined> {
  const { page, skipped, deadlineMs } = at;
  if (isSecretName(path)) {
    skipped.addSecret(path);
    page.passed(path);
    return undefined;
  }
  if (page.hasMoved && performance.now() > deadlineMs) return page.cut(notesOf(at, GO_ON));
  const file = textAt(at.place, path);
  skipped.count(file);
  const end = file.state === 'text' ? await searchText(at, path, file.text) : 'all';
  if (end === 'full') return page.cut(notesOf(at));
  if (end === 'late' && page.hasMoved) return page.cut(notesOf(at, GO_ON));
  page.passed(path);
  // A file that had the whole time of this page would end no sooner in the next one.
  if (end === 'late')
    return page.cut(
      notesOf(at, `${oneLine(path, SHOWN_CHARS)} was not searched to its end: it takes too long. ${GO_ON}`),
    );
  return undefined;
}

/** `late`: the time is over. */
async function searchText(
  { place, search, page, deadlineMs }: Searching,
  path: string,
  text: string,
): Promise<'all' | 'full' | 'late'> {
  const { pause } = place.walk;
  const { find, pieceChars, context, isRegex, query, after } = search;
  const goOn = textSearch({
    text,
    find,
    pieceChars,
    context,
    afterLine: path === after?.p ? after.l : 0,
    fixed: isRegex ? undefined : query,
    pause,
    take: (match) => page.take({ path, ...match }),
  });
  for (let end = goOn(); ; end = goOn()) {
    if (end !== 'due') return end;
    await pause.wait();
    if (performance.now() > deadlineMs) return 'late';
  }
}

/** What is known of the file at `path`, which is relative to the searched folder. */
export function textAt({ path: top, hasDescriptorPaths }: SearchPlace, path: string): FileText {
  return textOfFile(`${top === '/' ? '' : top}/${path}`, hasDescriptorPaths);
}

/** The page at the end of a search. One that finds nothing at all says where it did not look. */
export function lastPage(at: Searching, note?: string): SearchPage {
  const { page } = at;
  const foundNothing = page.isEmpty && at.search.after === undefined;
  return page.whole(notesOf(at, note, foundNothing ? IGNORED_LEFT_OUT : undefined));
}

/** What the walk and the search have to say, and `more`. */
export function notesOf(
  { place, skipped }: Searching,
  ...more: readonly (string | undefined)[]
): string | undefined {
  // Where ripgrep searches, only the other walk reads folders, and not all of a large project.
  const leftOut = place.walk.leftOut ?? place.roughWalk.leftOut;
  const walked = [...place.walk.notes, ...(leftOut === undefined ? [] : [leftOut])];
  const notes = [...walked.map((note) => `Note: ${note}.`), skipped.note(), ...more];
  const all = notes.filter((note) => note !== undefined);
  return all.length === 0 ? undefined : all.join(' ');
}
