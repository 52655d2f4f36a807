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
import { lastPage, notesOf, searchFile, textAt, type RunningSearch } from './search-file.js';
import { isAfter, type SearchPage } from './search-page.js';
import type { Search, SearchScope } from './search-scope.js';
import { LineStarts, shownLine, shownMatch } from './search-text.js';
import { shownFiles } from './shown-files.js';
import { MAX_SEARCHED_BYTES } from './text-of-file.js';

/** Skipped files are counted only in a project of up to this many files, and within this time. */
/** A search needs a tenth of it; a repository can make ripgrep hold everything. */
const MAX_DATA_BYTES = 1024 ** 3;
const MAX_COUNTED_FILES = 500;
const COUNT_LIMIT_MS = 2_000;
const UNCOUNTED = 'binary files, files over 10 MB, and non-ASCII text that is neither UTF-8 nor UTF-16';
const TOO_SLOW_NOTE =
  'The search took too long and was stopped: there may be more matches, even before these. Search a smaller folder with path.';

interface Found {
  readonly files: FirstFiles;
  /** Files with matches that are not in `files`: secret files, and files with events that are too large. */
  readonly others: string[];
  /** The repositories inside with matches. */
  readonly repositories: Set<string>;
  /** Files with matches whose names are not UTF-8. */
  replacedNames: number;
  /** False when ripgrep was stopped before it had searched all files. */
  isWhole: boolean;
}

/**
 * Searches with ripgrep. Each file with matches is read again through a descriptor that is checked to be inside the folder, since
 * ripgrep could follow a folder that becomes a link while it runs. Returns undefined when ripgrep is missing or fails, cannot read
 * the query, or would block on a named pipe instead of an ignore file.
 */
export async function searchByRipgrep(at: RunningSearch): Promise<SearchPage | undefined> {
  const { scope, search, page, skipped } = at;
  const expression = search.isRegex ? ripgrepExpression(search.query) : search.query;
  if (expression === undefined || !scope.canUseRipgrep) return undefined;
  const parts = [
    filesFound(scope, search, expression),
    trackedButIgnored(scope),
    countableFiles(at),
  ] as const;
  // If one fails, wait for the others, too: the caller closes the folder that they use.
  await Promise.allSettled(parts);
  const [found, tracked, countable] = await Promise.all(parts);
  if (found === undefined || tracked === undefined) return undefined;
  const { files, isWhole } = found;
  skipped.addReplacedNames(found.replacedNames);
  for (const path of found.repositories) skipped.addFolder(path, 'repository');
  scope.roughWalk.leftOut.remove(tracked);
  // Results of a stopped ripgrep are not complete up to any path, so there is no cursor to continue from.
  const cut = (): SearchPage => (isWhole ? page.cut(notesOf(at)) : page.whole(notesOf(at, TOO_SLOW_NOTE)));
  for (const file of inOrder(found, isWhole ? tracked : [], search)) {
    if (!('lines' in file)) {
      const end = await searchFile(at, file.path);
      if (end !== undefined) return end;
    } else if (!takeFile(at, file)) return cut();
    if (scope.walk.pause.isDue()) await scope.walk.pause.wait();
  }
  if (files.isCut || !isWhole) return cut();
  const isCounted = countable !== undefined && (await countSkipped(at, countable));
  if (isCounted) return lastPage(at);
  // Only some folders were read for notes.
  const mayIgnore = scope.readsIgnoreFiles && scope.roughWalk.leftOut.note(false) === undefined;
  return lastPage(at, `Not searched: ${mayIgnore ? 'ignored files, ' : ''}${UNCOUNTED}.`);
}

/** The files in which ripgrep found matches, and those to search without it, in path order. */
function inOrder(
  { files, others, isWhole }: Found,
  tracked: Iterable<string>,
  search: Search,
): readonly (FoundFile | { readonly path: string })[] {
  const found = files.inOrder();
  const known = new Set(found.map(({ path }) => path));
  // If ripgrep used up the time, no further file is searched.
  const own = [...tracked, ...others.filter((path) => isWhole || isSecretName(path))];
  const rest = [...new Set(own)].filter(
    (path) => admits(search, path) && files.wants(path) && !known.has(path),
  );
  return [...found, ...rest.map((path) => ({ path }))].sort((one, other) =>
    compareText(one.path, other.path),
  );
}

/** The files of a small project; undefined for a larger one. */
async function countableFiles({ scope, skipped }: RunningSearch): Promise<readonly string[] | undefined> {
  const paths: string[] = [];
  for await (const part of shownFiles(scope.roughWalk, skipped)) {
    paths.push(...part);
    if (paths.length > MAX_COUNTED_FILES) return undefined;
  }
  return paths;
}

/** Returns false when it took too long. */
async function countSkipped(
  { scope, search, skipped }: RunningSearch,
  paths: readonly string[],
): Promise<boolean> {
  const untilMs = performance.now() + COUNT_LIMIT_MS;
  for (const path of paths.filter((each) => search.matchesGlob(each))) {
    if (performance.now() > untilMs) return false;
    if (isSecretName(path)) skipped.addSecret(path);
    else skipped.count(textAt(scope, path));
    if (scope.walk.pause.isDue()) await scope.walk.pause.wait();
  }
  return true;
}

/** Runs ripgrep; undefined when it cannot answer. */
async function filesFound(
  scope: SearchScope,
  search: Search,
  expression: string,
): Promise<Found | undefined> {
  const found: Found = {
    files: new FirstFiles(search.bytes),
    others: [],
    repositories: new Set(),
    replacedNames: 0,
    isWhole: false,
  };
  const events = eventsInto(found, scope, search);
  const { cwd, env, signal, timeLimitMs } = scope;
  const args = argumentsOf(scope, search, expression);
  const slot = await gitRuns.take(signal);
  try {
    const call = { program: 'rg', args, cwd, env, signal, timeLimitMs, maxDataBytes: MAX_DATA_BYTES };
    const end = await runProgram(call, (chunk) => void events.push(chunk));
    if (end.how === 'too-slow') return { ...found, isWhole: false };
    // Exit code 2 with a summary means unreadable files besides the results; without a summary, an invalid query.
    return end.how === 'exited' && found.isWhole ? found : undefined;
  } catch (thrown) {
    // It could not be started, or another program has this name.
    if (systemCodeOf(thrown) !== undefined || thrown instanceof SyntaxError || thrown instanceof z.ZodError)
      return undefined;
    throw thrown;
  } finally {
    slot.dispose();
  }
}

function eventsInto(found: Found, scope: SearchScope, search: Search): RipgrepEvents {
  const { files, others, repositories } = found;
  const repositoryOf = nestedRepositories(scope);
  let file: FileLines | undefined;
  return new RipgrepEvents({
    begin: (path) => {
      file = undefined;
      if (!admits(search, path) || !files.wants(path)) return false;
      const repository = repositoryOf(path);
      if (repository !== undefined) {
        repositories.add(repository);
        return false;
      }
      if (isSecretName(path)) {
        others.push(path);
        return false;
      }
      file = new FileLines(path, search.bytes);
      return true;
    },
    replacedName: (path) => {
      if (admits(search, path)) found.replacedNames++;
    },
    line: ({ line, column, text }) => {
      if (file === undefined || (file.path === search.after?.p && line <= search.after.l)) return;
      // A copy, since a slice would keep the whole long line in memory.
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
    summary: () => (found.isWhole = true),
  });
}

/** Arguments without the user's settings, without following links, and with git's ignore files only. */
function argumentsOf(
  { hasGitAbove, readsIgnoreFiles, excludes }: SearchScope,
  { isRegex, bytes, after }: Search,
  expression: string,
): string[] {
  // A page never contains more lines of one file.
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
 * Tracked files that an ignore rule hides from ripgrep. Undefined when git fails, and for an ignored folder, since ripgrep applies
 * no rule to the folder that it searches.
 */
async function trackedButIgnored({
  hasGitAbove,
  workTree,
  excludes,
}: SearchScope): Promise<Iterable<string> | undefined> {
  if (!hasGitAbove) return [];
  try {
    const tree = await workTree();
    if (tree === undefined) return [];
    const more = excludes.flatMap((pattern) => ['--exclude', pattern]);
    return (await tree.isIgnored()) ? undefined : await tree.files('-c', '-i', '--exclude-standard', ...more);
  } catch (thrown) {
    // The search by walk runs instead and reports the reason.
    if (thrown instanceof BridgeError) return undefined;
    throw thrown;
  }
}

/** Returns the outermost repository inside that contains a path. These are not searched from an outer one, as in git. */
function nestedRepositories({ cwd, hasGitAbove }: SearchScope): (path: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  const around = (folder: string): string | undefined => {
    if (folder === '' || !hasGitAbove) return undefined;
    if (!known.has(folder))
      known.set(folder, around(folderOf(folder)) ?? (isRepository(`${cwd}/${folder}`) ? folder : undefined));
    return known.get(folder);
  };
  return (path) => around(folderOf(path));
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function admits({ matchesGlob, after }: Search, path: string): boolean {
  return matchesGlob(path) && isAfter(path, after);
}

/** Returns false when the page is full. Leaves out lines that differ from ripgrep's: the file has changed or was replaced. */
function takeFile({ scope, search, page }: RunningSearch, { path, lines, isCut }: FoundFile): boolean {
  const file = textAt(scope, path);
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
