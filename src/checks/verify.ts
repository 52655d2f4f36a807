import { mkdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { someNames } from '../base/text.js';
import { ignoredFolders, openWork, type Change, type WorkQuery } from '../git/state/clean-copy.js';
import type { GitDoor } from '../git/run/repository-git.js';
import { withFile, type Brief, type Check } from './brief.js';
import { linkFolders, matcher, runCheck, testMatcher } from './check-runner.js';
import { type CheckResult, type TestVerdict, type Verification } from './result.js';
import type { StartLine } from './run-command.js';

/** Test files of one check that run alone; each runs twice. */
const MAX_TEST_FILES = 40;
const MAX_NAMES = 50;
const MOVED = 'The project has other commits by now than the one that the task began with.';
/** Stands for bytes of a name that are no text. */
const NO_TEXT = '\uFFFD';

export interface VerifyOptions {
  readonly door: GitDoor;
  readonly query: WorkQuery;
  readonly checks: readonly Check[];
  readonly brief: Brief | undefined;
  /** A folder for the copies, which is removed before and at the end. */
  readonly scratch: string;
  /** Outputs are kept here. */
  readonly outputFolder: string;
  /** How commands run in that folder: in its `after` and `before`, with `tmp` for temporary files. */
  readonly linesIn: (within: string) => Promise<StartLine>;
}

type Work = Awaited<ReturnType<typeof openWork>>;
/** Runs a check, or another command line of it, in one copy. */
type RunIn = (side: 'after' | 'before', check: Check, command?: string) => Promise<CheckResult>;

/**
 * Runs the checks in a clean copy of what a task did, and each of its new or changed test files alone, there and in a copy of what it began
 * with. Nothing of the project changes but what its own commands write into ignored folders, which the copies link where no check prepares
 * them by its `setup`. Throws as `openWork`.
 */
export async function verifyWork(options: VerifyOptions, signal: AbortSignal): Promise<Verification> {
  const { door, query, checks, scratch } = options;
  const work = await openWork(door, query, signal);
  // All that git says comes first: the commands may do what they like with the repository.
  const changes = await work.changes();
  const isTest = testMatcher(checks);
  const facts = await factsOf(work, changes, isTest, options.brief);
  const isPrepared = checks.some(({ setup }) => setup !== undefined);
  const { from, names } = isPrepared
    ? { from: '', names: [] }
    : await ignoredFolders(door, query.folder, signal);
  const put = changes.flatMap(({ after }) => (isTest(after) ? [join(work.within, after ?? '')] : []));
  const removed = { recursive: true, force: true, maxRetries: 5 } as const;
  // What a process left that was killed.
  await rm(scratch, removed);
  try {
    await work.copy(join(scratch, 'after'));
    await work.copy(join(scratch, 'before'), new Set(put));
    await mkdir(join(scratch, 'tmp'));
    await linkFolders(names, from, join(scratch, 'before'));
    const { linked } = await linkFolders(names, from, join(scratch, 'after'));
    const run = runnerIn(options, work.within, await options.linesIn(work.within), signal);
    const results: CheckResult[] = [];
    for (const check of checks) results.push(await run('after', check));
    const found: TestVerdict[] = [];
    for (const [at, check] of checks.entries())
      found.push(...(await testsOf(run, check, changes, results[at]?.verdict ?? 'not run')));
    return { results, rounds: 0, tests: found, linked, ...facts };
  } finally {
    await rm(scratch, removed);
  }
}

/** What became of test files that were there before, what the brief does not name, and whether the base is still that of the project. */
async function factsOf(
  work: Work,
  changes: readonly Change[],
  isTest: (file?: string) => boolean,
  brief: Brief | undefined,
) {
  const old = changes.filter(
    ({ before, after }) => before !== undefined && (isTest(before) || isTest(after)),
  );
  const names = [...new Set(old.flatMap(({ before = '', after = before }) => [before, after]))];
  const patched = names.slice(0, MAX_TEST_FILES);
  const patch = patched.length > 0 ? await work.patch(patched) : undefined;
  const isCut = patch?.isCut === true || patched.length < names.length;
  const gone = old.flatMap(({ before = '', after }) => (isTest(after) ? [] : before));
  const moved = old.flatMap(({ before, after }) =>
    isTest(after) && before !== after ? `${before} is now ${after}` : [],
  );
  const isNamed = matcher(brief?.files);
  const all = brief?.files === undefined ? [] : await work.allChanges();
  const outside = all
    .map(({ before = '', after = before }) => after)
    .filter((path) => {
      const inside = relative(work.within, path);
      return inside.startsWith('../') || !isNamed(inside);
    });
  return {
    tests_changed: patch?.text,
    outside_brief: outside.length > 0 ? outside.slice(0, MAX_NAMES) : undefined,
    notes: [
      ...((await work.isMoved()) ? [MOVED] : []),
      ...(gone.length > 0 ? [`No longer there as tests: ${someNames(gone)}.`] : []),
      ...(moved.length > 0 ? [`To git these were moved: ${someNames(moved)}.`] : []),
      ...(isCut ? [`tests_changed is cut; it is about ${someNames(names)}.`] : []),
    ],
  };
}

/** Each copy is prepared once by each `setup`. */
function runnerIn(
  { scratch, outputFolder }: VerifyOptions,
  within: string,
  start: StartLine,
  signal: AbortSignal,
): RunIn {
  const setups = new Map<string, CheckResult>();
  let commands = 0;
  return async (side, check, command = check.command) => {
    const place = { start, folder: join(scratch, side, within), outputFolder };
    const one = (line: string): Promise<CheckResult> =>
      runCheck({ ...check, command: line }, place, `${++commands}.txt`, signal);
    const { name, setup } = check;
    if (setup === undefined) return one(command);
    const key = `${side} ${setup}`;
    const { verdict, why = '' } = setups.get(key) ?? (await one(setup));
    setups.set(key, { name, command: setup, verdict, why });
    if (verdict === 'met') return one(command);
    return { name, command, verdict: 'not run', why: `its setup is ${verdict}: ${why}` };
  };
}

/** Red before, green after: of each test file alone, or of the whole check, which is `whole` after, where it has no command for one file. */
async function testsOf(
  run: RunIn,
  check: Check,
  changes: readonly Change[],
  whole: TestVerdict['after'],
): Promise<TestVerdict[]> {
  const { name, each, tests } = check;
  const isTest = matcher(tests);
  const files = changes.filter(({ after }) => isTest(after));
  if (tests !== undefined && files.length === 0) return [];
  if (each === undefined || tests === undefined) {
    const before = (await run('before', check)).verdict;
    return [withRed({ check: name, ...(tests === undefined && { whole: true }), after: whole, before })];
  }
  const found: TestVerdict[] = [];
  for (const { before: old, after: file = '' } of files.slice(0, MAX_TEST_FILES)) {
    const line = withFile(each, file);
    // Bytes that are no text are in no command line.
    const after = file.includes(NO_TEXT) ? 'not run' : (await run('after', check, line)).verdict;
    const before = after === 'met' ? (await run('before', check, line)).verdict : 'not run';
    const isMoved = old !== undefined && old !== file;
    found.push(withRed({ check: name, file, ...(isMoved && { moved: true }), after, before }));
  }
  const more = files.length - found.length;
  if (more > 0) found.push({ check: name, file: `${more} more`, after: 'not run', before: 'not run' });
  return found;
}

/** `red_before` is known where the test is met on the new code and ran on the old one. */
function withRed(of: TestVerdict): TestVerdict {
  const isKnown = of.after === 'met' && of.before !== 'not run';
  return { ...of, ...(isKnown && { red_before: of.before === 'not met' }) };
}
