import { z } from 'zod';
import { BridgeError, systemCodeOf } from '../../base/errors.js';
import { gitRuns } from '../../git/run/git-slots.js';
import { runProgram } from '../../os/run-program.js';
import { isSecretName } from '../../projects/secret-names.js';
import { isRepository } from '../ignore/git-above.js';
import { compareText } from '../list/list-order.js';
import { FileLines, FirstFiles, MIN_MATCH_BYTES, type FoundFile } from './first-files.js';
import { RipgrepEvents } from './ripgrep-events.js';
import { ripgrepExpression } from './ripgrep-expression.js';
import { lastPage, notesOf, searchFile, textAt, type Searching } from './search-file.js';
import { isBehind, type SearchPage } from './search-page.js';
import type { Search, SearchPlace } from './search-place.js';
import { LineStarts, shownLine, shownMatch } from './search-text.js';
import { shownFiles } from './shown-files.js';
import { MAX_SEARCHED_BYTES } from './text-of-file.js';

/** Files that were not searched are counted in a project with no more files, and within this time. */
const MAX_COUNTED_FILES = 500;
const COUNT_LIMIT_MS = 2_000;
const UNCOUNTED_NOTE =
  'Not searched: binary files, files over 10 MB, and non-ASCII text that is neither UTF-8 nor UTF-16.';
const TOO_SLOW_NOTE =
  'The search took too long and was ended: there may be more matches, also before these. Search a smaller folder with path.';

interface Found {
  readonly files: FirstFiles;
  /** Files with a match that is not to be shown, or whose events are too large: their lines are not in `files`. */
  readonly others: readonly string[];
  /** False when ripgrep was ended before it had searched all files. */
  readonly isWhole: boolean;
}

/**
 * Matches by ripgrep. Each file that it finds something in is read again, through a descriptor that is seen to be inside the
 * folder: ripgrep itself may be led out of it by a folder that becomes a link while it runs. Undefined where ripgrep is missing
 * or fails, cannot read the query, or waits for a named pipe that is named as an ignore file.
 */
export async function searchByRipgrep(at: Searching): Promise<SearchPage | undefined> {
  const { place, search, page } = at;
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
  // What came before the end of ripgrep is in no order: there is nothing to go on from.
  const cut = (): SearchPage => (isWhole ? page.cut(notesOf(at)) : page.whole(notesOf(at, TOO_SLOW_NOTE)));
  for (const file of inOrder(found, isWhole ? tracked : [], search)) {
    if (!('lines' in file)) {
      const end = await searchFile(at, file.path);
      if (end !== undefined) return end;
    } else if (!takeFile(at, file)) return cut();
    if (place.walk.pause.isDue()) await place.walk.pause.wait();
  }
  if (files.isCut || !isWhole) return cut();
  const isCounted = countable !== undefined && (await countSkipped(at, countable));
  return lastPage(at, isCounted ? undefined : UNCOUNTED_NOTE);
}

/** What ripgrep found, and the files that are searched without it. */
function inOrder(
  { files, others, isWhole }: Found,
  tracked: Iterable<string>,
  search: Search,
): readonly (FoundFile | { readonly path: string })[] {
  const found = files.inOrder();
  const known = new Set(found.map(({ path }) => path));
  // There is no time left to search a file.
  const own = [...tracked, ...others.filter((path) => isWhole || isSecretName(path))];
  const rest = [...new Set(own)].filter(
    (path) => admits(search, path) && files.wants(path) && !known.has(path),
  );
  return [...found, ...rest.map((path) => ({ path }))].sort((one, other) =>
    compareText(one.path, other.path),
  );
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

/** False when it took too long. */
async function countSkipped(
  { place, search, skipped }: Searching,
  paths: readonly string[],
): Promise<boolean> {
  const untilMs = performance.now() + COUNT_LIMIT_MS;
  for (const path of paths.filter((each) => search.takesPath(each))) {
    if (performance.now() > untilMs) return false;
    if (isSecretName(path)) skipped.addSecret(path);
    else skipped.count(textAt(place, path));
    if (place.walk.pause.isDue()) await place.walk.pause.wait();
  }
  return true;
}

/** Undefined when ripgrep cannot answer. */
async function filesFound(
  place: SearchPlace,
  search: Search,
  expression: string,
): Promise<Found | undefined> {
  const files = new FirstFiles(search.bytes);
  const others: string[] = [];
  let isWhole = false;
  const events = eventsInto({ files, others }, place, search, () => (isWhole = true));
  const { cwd, env, signal, timeLimitMs } = place;
  const args = argumentsOf(place, search, expression);
  const slot = await gitRuns.take(signal);
  try {
    const call = { program: 'rg', args, cwd, env, signal, timeLimitMs };
    const end = await runProgram(call, (chunk) => events.push(chunk));
    if (end.how === 'too-slow') return { files, others, isWhole: false };
    // With 2 it names what it could not read beside what it found, and without a summary it could not read the query.
    return end.how === 'exited' && isWhole ? { files, others, isWhole } : undefined;
  } catch (thrown) {
    // It could not be started, or is another program.
    if (systemCodeOf(thrown) !== undefined || thrown instanceof SyntaxError || thrown instanceof z.ZodError)
      return undefined;
    throw thrown;
  } finally {
    slot.dispose();
  }
}

function eventsInto(
  { files, others }: { readonly files: FirstFiles; readonly others: string[] },
  place: SearchPlace,
  search: Search,
  summary: () => void,
): RipgrepEvents {
  const isNested = nestedRepositories(place);
  let file: FileLines | undefined;
  return new RipgrepEvents({
    begin: (path) => {
      file = undefined;
      if (!admits(search, path) || !files.wants(path) || isNested(path)) return false;
      if (isSecretName(path)) {
        others.push(path);
        return false;
      }
      file = new FileLines(path, search.bytes);
      return true;
    },
    line: ({ line, column, text }) => {
      if (file === undefined || (file.path === search.after?.p && line <= search.after.l)) return;
      // A copy: a part of a long line would hold all of it in memory.
      const shown = Buffer.from(shownLine(text, column)).toString();
      file.add({ line, column, shown });
    },
    tooLarge: () => {
      if (file !== undefined) others.push(file.path);
      file = undefined;
    },
    end: (isBinary) => {
      if (file !== undefined && !isBinary) files.add(file);
    },
    summary,
  });
}

/** No settings of the user, no links, no ignore files but git's. */
function argumentsOf(
  { hasGitAbove, readsIgnoreFiles, excludes }: SearchPlace,
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
    ...excludes.map((pattern) => `--glob=!${pattern}`),
    ...(readsIgnoreFiles ? [] : ['--no-ignore']),
    `--max-filesize=${MAX_SEARCHED_BYTES}`,
    `--max-count=${maxLines}`,
    ...(hasGitAbove ? [] : ['--no-require-git', '--no-ignore-parent', '--no-ignore-global']),
    ...(isRegex ? [] : ['--fixed-strings']),
    `--regexp=${expression}`,
    './',
  ];
}

/**
 * Tracked files that an ignore rule hides from ripgrep. Undefined when git fails, and in an ignored folder: ripgrep applies no
 * rule to the folder that it is given.
 */
async function trackedYetIgnored({
  hasGitAbove,
  workTree,
  excludes,
}: SearchPlace): Promise<Iterable<string> | undefined> {
  if (!hasGitAbove) return [];
  try {
    const tree = await workTree();
    if (tree === undefined) return [];
    const more = excludes.flatMap((pattern) => ['--exclude', pattern]);
    return (await tree.isIgnored()) ? undefined : await tree.files('-c', '-i', '--exclude-standard', ...more);
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

/** False when the page is full. A line that is not as it was found is left out: the file has changed, or is another one. */
function takeFile({ place, search, page }: Searching, { path, lines, isCut }: FoundFile): boolean {
  const file = textAt(place, path);
  if (file.state === 'text') {
    const starts = new LineStarts(file.text);
    for (const { line, column, shown } of lines) {
      const start = starts.of(line);
      if (start === undefined) break;
      const match = shownMatch(file.text, { line, start, column }, search.context);
      if (match.text === shown && !page.take({ path, ...match })) return false;
    }
  }
  if (isCut) page.passed(path, lines.at(-1)?.line);
  else page.passed(path);
  return !isCut;
}
