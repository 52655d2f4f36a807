import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ignoreMissing } from '../base/errors.js';
import { someNames } from '../base/text.js';
import { changesIn, openWork, type ChangedName, type WorkQuery } from '../git/state/clean-copy.js';
import type { GitDoor } from '../git/run/repository-git.js';
import { withFile, type Brief, type Check } from './brief.js';
import { linkFolders, matching, runChecks } from './check-runner.js';
import type { CheckResult, TestVerdict, Verification } from './result.js';
import type { RunLine } from './run-command.js';

/** Test files of one check that run alone; each runs twice. */
const MAX_TEST_FILES = 40;
const MAX_NAMES = 50;
const MOVED = 'The project has other commits by now than the one that the task began with.';
/** Stands for bytes of a name that are no text. */
const NO_TEXT = '\uFFFD';

export interface VerifyOptions {
  readonly door: GitDoor;
  readonly query: WorkQuery;
  /** The project: the top of the repository, or a folder of it. */
  readonly folder: string;
  readonly checks: readonly Check[];
  readonly brief: Brief | undefined;
  /** The beginning of the name of a new folder, which is removed at the end. */
  readonly scratch: string;
  /** Outputs are kept here. */
  readonly outputFolder: string;
  /** How commands run in that new folder: in its `after` and `before`, with `tmp` for temporary files. */
  readonly linesIn: (scratch: string) => Promise<RunLine>;
}

/** A copy of one side. */
interface Side {
  /** The project in it. */
  readonly folder: string;
  /** By the command line that prepares it: why it cannot be prepared so. */
  readonly setups: Map<string, string | undefined>;
}

interface Run {
  readonly outputFolder: string;
  readonly line: RunLine;
  readonly signal: AbortSignal;
  readonly after: Side;
  readonly before: Side;
  /** So many ran: each has a folder of its own for its output. */
  commands: number;
}

/**
 * Runs the checks in a clean copy of what a task did, and each of its new or changed test files alone, there and in a copy of what it began
 * with. Nothing of the project changes but what its own commands write into ignored folders, which the copies link where no check prepares
 * them by its `setup`. Throws as `openWork`.
 */
export async function verifyWork(options: VerifyOptions, signal: AbortSignal): Promise<Verification> {
  const { checks, query, brief } = options;
  const work = await openWork(options.door, query, signal);
  const within = relative(query.repository, options.folder);
  const all = await work.changed();
  const changed = changesIn(all, within);
  // All that git says comes first: the commands may do what they like with the repository.
  const isPrepared = checks.some(({ setup }) => setup !== undefined);
  const { from, names } = isPrepared ? { from: '', names: [] } : await work.ignoredFolders();
  const isTest = (path: string): boolean => checks.some(({ tests }) => matching(tests, [path]).length > 0);
  const old = changed.filter(
    ({ path, change, from = path }) => change !== 'new' && (isTest(path) || isTest(from)),
  );
  const gone = old.filter(({ path, change }) => change === 'removed' || !isTest(path));
  const shown = old.flatMap(({ path, from: moved = path }) => [...new Set([path, moved])]);
  const patched = shown.slice(0, MAX_TEST_FILES).map((path) => join(within, path));
  const patch = patched.length > 0 ? await work.patch(patched) : undefined;
  const tests_changed = patch?.text;
  const isCut = patch?.isCut === true || patched.length < shown.length;
  const notes = [
    ...((await work.isMoved()) ? [MOVED] : []),
    ...(gone.length > 0
      ? [`No longer there as tests: ${someNames(gone.map(({ path, from = path }) => from))}.`]
      : []),
    ...(isCut ? [`tests_changed is cut; it is about ${someNames(old.map(({ path }) => path))}.`] : []),
  ];
  const put = new Set(
    changed
      .filter(({ path, change }) => change !== 'removed' && isTest(path))
      .map(({ path }) => join(within, path)),
  );
  const scratch = await mkdtemp(options.scratch);
  try {
    await work.copy(join(scratch, 'after'), 'end');
    await work.copy(join(scratch, 'before'), 'base', (path) => put.has(path));
    await mkdir(join(scratch, 'tmp'));
    await linkFolders(names, from, join(scratch, 'before'));
    const { linked } = await linkFolders(names, from, join(scratch, 'after'));
    const sideOf = (name: string): Side => ({ folder: join(scratch, name, within), setups: new Map() });
    const { outputFolder } = options;
    const line = await options.linesIn(scratch);
    const run: Run = {
      outputFolder,
      line,
      signal,
      after: sideOf('after'),
      before: sideOf('before'),
      commands: 0,
    };
    const results: CheckResult[] = [];
    for (const check of checks) results.push(await runOn(run, 'after', check));
    const tests: TestVerdict[] = [];
    for (const [at, check] of checks.entries())
      tests.push(...(await testsOf(run, check, changed, results[at]?.verdict ?? 'not run')));
    const isNamed = (one: ChangedName): boolean =>
      changesIn([one], within).some(({ path }) => matching(brief?.files, [path]).length > 0);
    const outside =
      brief?.files === undefined ? [] : all.filter((one) => !isNamed(one)).map(({ path }) => path);
    return {
      ...{ results, tests, linked, notes },
      ...(tests_changed !== undefined && { tests_changed }),
      ...(outside.length > 0 && { outside_brief: outside.slice(0, MAX_NAMES) }),
    };
  } finally {
    await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Runs a check, or another command line of it, in one copy. */
async function runOn(
  run: Run,
  name: 'after' | 'before',
  check: Check,
  command = check.command,
): Promise<CheckResult> {
  const { folder, setups } = run[name];
  const notRun = (why: string): CheckResult => ({ name: check.name, command, verdict: 'not run', why });
  const real = await realpath(folder).catch(ignoreMissing);
  if (real !== undefined && real !== folder) return notRun('the project is a link there');
  const one = async (line: string): Promise<CheckResult> => {
    const outputFolder = join(run.outputFolder, `${++run.commands}`);
    const runner = { run: run.line, folder, outputFolder };
    const [result] = await runChecks([{ ...check, command: line }], runner, run.signal);
    return result ?? notRun('the checks were stopped');
  };
  const { setup } = check;
  if (setup !== undefined && !setups.has(setup)) {
    const { verdict, why } = await one(setup);
    setups.set(setup, verdict === 'met' ? undefined : `its setup is ${verdict}: ${why ?? ''}`);
  }
  const why = setup === undefined ? undefined : setups.get(setup);
  return why === undefined ? one(command) : notRun(why);
}

/** Red before, green after: of each test file alone, or of the whole check, which is `whole` after, where it has no command for one file. */
async function testsOf(
  run: Run,
  check: Check,
  changed: readonly ChangedName[],
  whole: TestVerdict['after'],
): Promise<TestVerdict[]> {
  const { name, each, tests } = check;
  const files = changed.filter(
    ({ path, change }) => change !== 'removed' && matching(tests, [path]).length > 0,
  );
  if (tests !== undefined && files.length === 0) return [];
  if (each === undefined || tests === undefined) {
    const before = (await runOn(run, 'before', check)).verdict;
    return [verdict({ check: name, ...(tests === undefined && { whole: true }) }, whole, before)];
  }
  const found: TestVerdict[] = [];
  for (const { path: file, change } of files.slice(0, MAX_TEST_FILES)) {
    const line = withFile(each, file);
    // Bytes that are no text are in no command line.
    const after = file.includes(NO_TEXT) ? 'not run' : (await runOn(run, 'after', check, line)).verdict;
    const before = after === 'met' ? (await runOn(run, 'before', check, line)).verdict : 'not run';
    found.push(verdict({ check: name, file, ...(change === 'moved' && { moved: true }) }, after, before));
  }
  if (files.length > MAX_TEST_FILES)
    found.push({
      check: name,
      file: `${files.length - MAX_TEST_FILES} more`,
      after: 'not run',
      before: 'not run',
    });
  return found;
}

/** `red_before` is known where the test is met on the new code and ran on the old one. */
function verdict(
  of: Pick<TestVerdict, 'check' | 'file' | 'moved' | 'whole'>,
  after: TestVerdict['after'],
  before: TestVerdict['before'],
): TestVerdict {
  const isKnown = after === 'met' && before !== 'not run';
  return { ...of, after, before, ...(isKnown && { red_before: before === 'not met' }) };
}
