import { oneLine } from '../../base/text/text.js';
import { isReplacedName } from '../../base/text/utf8.js';
import { isSecretName } from '../../projects/secret-names.js';
import type { NotSearched } from './not-searched.js';
import type { SearchPage, SearchPageBuilder } from './search-page.js';
import type { Search, SearchScope } from './search-scope.js';
import { textSearch } from './search-text.js';
import { textOfFile, type FileText } from './text-of-file.js';

export const RESUME = 'The time limit was reached; continue with the cursor.';
const SHOWN_CHARS = 400;

/** A running search. */
export interface RunningSearch {
  readonly scope: SearchScope;
  readonly search: Search;
  readonly page: SearchPageBuilder;
  readonly skipped: NotSearched;
  /** Time limit of the page, in terms of `performance.now`. */
  readonly deadlineMs: number;
}

/**
 * Searches the lines of one file without ripgrep. Returns the page when it ends here, because it is full or the time is over. Its
 * cursor is always after the previous one.
 */
export async function searchFile(at: RunningSearch, path: string): Promise<SearchPage | undefined> {
  const { page, skipped, deadlineMs } = at;
  if (isSecretName(path)) {
    skipped.addSecret(path);
    page.passed(path);
    return undefined;
  }
  if (page.hasMoved && performance.now() > deadlineMs) return page.cut(notesOf(at, RESUME));
  const file = textAt(at.scope, path);
  skipped.count(file);
  if (file.state === 'none' && isReplacedName(path)) skipped.addReplacedNames(1);
  const end = file.state === 'text' ? await searchText(at, path, file.text) : 'all';
  if (end === 'full') return page.cut(notesOf(at));
  if (end === 'late' && page.hasMoved) return page.cut(notesOf(at, RESUME));
  page.passed(path);
  // A file that took the whole time of this page would not finish on the next one either.
  if (end === 'late')
    return page.cut(
      notesOf(at, `${oneLine(path, SHOWN_CHARS)} was searched only in part: it takes too long. ${RESUME}`),
    );
  return undefined;
}

/** Returns `late` when the time is over. */
async function searchText(
  { scope, search, page, deadlineMs }: RunningSearch,
  path: string,
  text: string,
): Promise<'all' | 'full' | 'late'> {
  const { pause } = scope.walk;
  const { find, pieceChars, context, isRegex, query, after } = search;
  const continueSearch = textSearch({
    text,
    find,
    pieceChars,
    context,
    afterLine: path === after?.p ? after.l : 0,
    fixed: isRegex ? undefined : query,
    pause,
    take: (match) => page.take({ path, ...match }),
  });
  for (let end = continueSearch(); ; end = continueSearch()) {
    if (end !== 'due') return end;
    await pause.wait();
    if (performance.now() > deadlineMs) return 'late';
  }
}

/** Reads the file at `path`, which is relative to the searched folder. */
export function textAt({ path: top, hasDescriptorPaths }: SearchScope, path: string): FileText {
  return textOfFile(`${top === '/' ? '' : top}/${path}`, hasDescriptorPaths);
}

export function lastPage(at: RunningSearch, note?: string): SearchPage {
  return at.page.whole(notesOf(at, note));
}

/** Joins the notes of the walk, of skipped files, and `more`. */
export function notesOf(
  { scope, skipped }: RunningSearch,
  ...more: readonly (string | undefined)[]
): string | undefined {
  // If ripgrep searches, only the rough walk reads folders, and only some of a large project.
  const { leftOut } = scope.walk.hasBegun ? scope.walk : scope.roughWalk;
  const walked = [...scope.walk.notes, leftOut.note(false)].filter((note) => note !== undefined);
  const notes = [...walked.map((note) => `${upperFirst(note)}.`), skipped.note(), ...more];
  const all = notes.filter((note) => note !== undefined);
  return all.length === 0 ? undefined : all.join(' ');
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
