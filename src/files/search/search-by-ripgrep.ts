import { BridgeError } from '../../base/errors.js';
import { gitRuns } from '../../base/git-slots.js';
import { runProgram } from '../../os/run-program.js';
import { isRepository } from '../ignore/git-above.js';
import { FileLines, FirstFiles, MIN_MATCH_BYTES, type FoundFile } from './first-files.js';
import { NotSearched } from './not-searched.js';
import { RipgrepEvents } from './ripgrep-events.js';
import { ripgrepExpression } from './ripgrep-expression.js';
import { isBehind, type SearchPage, type SearchPageBuilder } from './search-page.js';
import type { Search, SearchPlace } from './search-place.js';
import { linesFound, LineStarts, shownLine, shownMatch } from './search-text.js';
import { shownFiles } from './shown-files.js';
import { textOfFile, type FileText } from './text-of-file.js';

/** In a project with more files it takes too long to count those that were not searched. */
const MAX_COUNTED_FILES = 500;
const UNCOUNTED_NOTE = 'Binary files were not searched.';
const TOO_SLOW_NOTE =
  'The search took too long and was ended: there may be more matches, also before these. Search a smaller folder with path.';

interface Found {
  readonly files: FirstFiles;
  /** False when ripgrep was ended before it was through. */
  readonly isWhole: boolean;
}

/**
 * Matches by ripgrep. Each file that it finds something in is read again, through a descriptor that is seen to be inside the
 * folder: ripgrep itself may be led out of it by a folder that becomes a link while it runs. Undefined where ripgrep is missing,
 * cannot read the query, or waits for a named pipe that is named as an ignore file.
 */
export async function searchByRipgrep(
  place: SearchPlace,
  search: Search,
  page: SearchPageBuilder,
): Promise<SearchPage | undefined> {
  const expression = search.isRegex ? ripgrepExpression(search.query) : search.query;
  if (expression === undefined || !place.canUseRipgrep) return undefined;
  const parts = [
    filesFound(place, search, expression),
    trackedYetIgnored(place),
    countableFiles(place),
  ] as const;
  // Whichever fails: nothing uses the folder any more when its owner closes it.
  await Promise.allSettled(parts);
  const [found, tracked, countable] = await Promise.all(parts);
  if (found === undefined || tracked === undefined) return undefined;
  const { files, isWhole } = found;
  for (const path of tracked) if (admits(search, path)) files.add(linesOfFile(place, search, path));
  const { pause } = place.walk;
  const skipped = new NotSearched();
  // What came before the end of ripgrep is in no order: there is nothing to go on from.
  const cut = (): SearchPage => (isWhole ? page.cut(skipped.note()) : page.whole(TOO_SLOW_NOTE));
  for (const file of files.inOrder()) {
    if (!takeFile(place, search, file, { page, skipped })) return cut();
    if (pause.isDue()) await pause.wait();
  }
  if (files.isCut || !isWhole) return cut();
  if (countable === undefined)
    return page.whole(skipped.note() ?? (page.isEmpty ? UNCOUNTED_NOTE : undefined));
  for (const path of countable) {
    // A file that is too large was searched all the same, and is counted above if something was found in it.
    const text = search.takesPath(path) ? textAt(place, path) : undefined;
    if (text !== undefined && text.state !== 'large') skipped.count(text);
    if (pause.isDue()) await pause.wait();
  }
  return page.whole(skipped.note());
}

/** The files of a small project; undefined for a larger one. */
async function countableFiles({ roughWalk }: SearchPlace): Promise<readonly string[] | undefined> {
  const paths: string[] = [];
  for await (const part of shownFiles(roughWalk)) {
    paths.push(...part);
    if (paths.length > MAX_COUNTED_FILES) return undefined;
  }
  return paths;
}

/** Undefined when ripgrep cannot answer. */
async function filesFound(
  place: SearchPlace,
  search: Search,
  expression: string,
): Promise<Found | undefined> {
  const { cwd, env, signal, timeLimitMs } = place;
  const files = new FirstFiles(search.bytes);
  const isNested = nestedRepositories(place);
  let file: FileLines | undefined;
  let isWhole = false;
  const events = new RipgrepEvents({
    begin: (path) => {
      const isWanted = admits(search, path) && files.wants(path) && !isNested(path);
      file = isWanted ? new FileLines(path, search.bytes) : undefined;
      return isWanted;
    },
    line: ({ line, column, text }) => {
      if (file === undefined || (file.path === search.after?.p && line <= search.after.l)) return;
      // A copy: a part of a long line would hold all of it in memory.
      const shown = Buffer.from(shownLine(text, column)).toString();
      file.add({ line, column, shown });
    },
    end: (isBinary) => {
      if (file !== undefined && !isBinary) files.add(file);
    },
    summary: () => (isWhole = true),
  });
  const slot = await gitRuns.take(signal);
  try {
    const call = {
      program: 'rg',
      args: argumentsOf(place, search, expression),
      cwd,
      env,
      signal,
      timeLimitMs,
    };
    const end = await runProgram(call, (chunk) => events.push(chunk));
    if (end.how === 'too-slow') return { files, isWhole: false };
    // With 2 it names what it could not read beside what it found, and without a summary it could not read the query.
    return end.how === 'exited' && isWhole ? { files, isWhole } : undefined;
  } finally {
    slot.dispose();
  }
}

/** No settings of the user, no links, no ignore files but git's. */
function argumentsOf(
  { hasGitAbove }: SearchPlace,
  { isRegex, bytes, after }: Search,
  expression: string,
): string[] {
  // More lines of one file than this are on no page.
  const maxLines = Math.ceil(bytes / MIN_MATCH_BYTES) + (after?.l ?? 0);
  return [
    '--json',
    '--no-config',
    '--no-messages',
    '--no-follow',
    '--no-ignore-dot',
    '--crlf',
    '--hidden',
    '--glob=!.git',
    `--max-count=${maxLines}`,
    ...(hasGitAbove ? [] : ['--no-require-git', '--no-ignore-parent', '--no-ignore-global']),
    ...(isRegex ? [] : ['--fixed-strings']),
    `--regexp=${expression}`,
    './',
  ];
}

/** Tracked files that an ignore rule hides from ripgrep; undefined when git fails. */
async function trackedYetIgnored({
  hasGitAbove,
  workTree,
}: SearchPlace): Promise<Iterable<string> | undefined> {
  if (!hasGitAbove) return [];
  try {
    const tree = await workTree();
    return tree === undefined ? [] : await tree.files('-c', '-i', '--exclude-standard');
  } catch (thrown) {
    // The walk, which searches then, says why.
    if (thrown instanceof BridgeError) return undefined;
    throw thrown;
  }
}

/** Whether a path is in a repository below the folder, which is not searched from within another one, as in git. */
function nestedRepositories({ cwd, hasGitAbove }: SearchPlace): (path: string) => boolean {
  const known = new Map<string, boolean>();
  const isNested = (folder: string): boolean => {
    if (folder === '') return false;
    let answer = known.get(folder);
    if (answer === undefined) {
      answer = isNested(folderOf(folder)) || isRepository(`${cwd}/${folder}`);
      known.set(folder, answer);
    }
    return answer;
  };
  return (path) => hasGitAbove && isNested(folderOf(path));
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function admits({ takesPath, after }: Search, path: string): boolean {
  return takesPath(path) && isBehind(path, after);
}

/** The matches in a file that ripgrep was not given. */
function linesOfFile(place: SearchPlace, search: Search, path: string): FileLines {
  const lines = new FileLines(path, search.bytes);
  const file = textAt(place, path);
  if (file.state !== 'text') return lines;
  const { find, pieceChars, isRegex, query, after } = search;
  const afterLine = path === after?.p ? after.l : 0;
  const { text } = file;
  for (const found of linesFound({ text, find, pieceChars, afterLine, fixed: isRegex ? undefined : query }))
    if (found.line > afterLine && found.column >= 0)
      lines.add({ ...found, shown: shownMatch(text, found, 0).text });
  return lines;
}

/** False when the page is full. A line that is not as it was found is left out: the file has changed, or is another one. */
function takeFile(
  place: SearchPlace,
  { context }: Search,
  { path, lines, isCut }: FoundFile,
  { page, skipped }: { readonly page: SearchPageBuilder; readonly skipped: NotSearched },
): boolean {
  const file = textAt(place, path);
  if (file.state === 'large') skipped.count(file);
  if (file.state !== 'text') return true;
  const starts = new LineStarts(file.text);
  for (const { line, column, shown } of lines) {
    const start = starts.of(line);
    if (start === undefined) break;
    const match = shownMatch(file.text, { line, start, column }, context);
    if (match.text === shown && !page.take({ path, ...match })) return false;
  }
  if (isCut) page.passed(path, lines.at(-1)?.line);
  else page.passed(path);
  return !isCut;
}

function textAt({ path: top, hasDescriptorPaths }: SearchPlace, path: string): FileText {
  return textOfFile(`${top === '/' ? '' : top}/${path}`, hasDescriptorPaths);
}
