import { mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { ignoreMissing, systemCodeOf } from '../base/errors.js';
import { openWork, type ChangedName, type WorkQuery } from '../git/state/clean-copy.js';
import type { GitDoor } from '../git/run/repository-git.js';
import { FILE_PLACE, type Brief, type Check } from './brief.js';
import { matching, runChecks, testFiles, type CheckRunnerOptions } from './check-runner.js';
import type { CheckResult, TestVerdict, Verification } from './result.js';

/** Test files of one check that run alone; each runs twice. */
const MAX_TEST_FILES = 40;
const MAX_NAMES = 50;
const MAX_LINKS = 200;
/** What the bridge itself writes into projects. */
const OWN_FOLDER = /(?:^|\/)\.claude$|(?:^|\/)\.claude\//;
const MOVED = 'The project has other commits by now than the one that the task began with.';

export interface VerifyOptions extends Pick<
  CheckRunnerOptions,
  'shell' | 'env' | 'mark' | 'startedSince' | 'clock'
> {
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
}

/** A copy of one side. */
interface Side {
  /** The project in it. */
  readonly folder: string;
  /** By the command line that prepares it: why it cannot be prepared so. */
  readonly setups: Map<string, string | undefined>;
}

interface Run {
  readonly options: VerifyOptions;
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
  const { checks, query, folder } = options;
  const work = await openWork(options.door, query, signal);
  const within = relative(query.repository, folder);
  const all = await work.changed();
  const changed = all.flatMap((one) => inside(within, one.path).map((path) => ({ ...one, path })));
  // All that git says comes first: the commands may do what they like with the repository.
  const ignored = checks.some(({ setup }) => setup !== undefined) ? [] : await work.ignoredFolders();
  const linked = ignored.filter((name) => !OWN_FOLDER.test(name)).slice(0, MAX_LINKS);
  const notes = (await work.isMoved()) ? [MOVED] : [];
  const old = changed.filter(({ path, change }) => change !== 'new' && isTest(checks, path));
  const shown = old.flatMap(({ path, from }) => [join(within, path), ...(from === undefined ? [] : [from])]);
  const tests_changed = shown.length > 0 ? await work.patch(shown.slice(0, MAX_TEST_FILES)) : undefined;
  const present = changed.flatMap(({ path, change }) => (change === 'removed' ? [] : [path]));
  const put = [...new Set(checks.flatMap((check) => testFiles(check, present)))];
  const scratch = await mkdtemp(options.scratch);
  try {
    await work.copy(join(scratch, 'after'), 'end');
    await work.copy(
      join(scratch, 'before'),
      'base',
      put.slice(0, MAX_TEST_FILES).map((path) => join(within, path)),
    );
    for (const side of ['after', 'before']) await link(linked, query.repository, join(scratch, side));
    const sideOf = (name: string): Side => ({ folder: join(scratch, name, within), setups: new Map() });
    const run: Run = { options, signal, after: sideOf('after'), before: sideOf('before'), commands: 0 };
    const results: CheckResult[] = [];
    for (const check of checks) results.push(await runOn(run, 'after', check));
    const tests: TestVerdict[] = [];
    for (const check of checks) tests.push(...(await testsOf(run, check, changed)));
    const outside = outsideOf(options.brief, all, within);
    return {
      ...{ results, tests, linked, notes },
      ...(tests_changed !== undefined && { tests_changed }),
      ...(outside.length > 0 && { outside_brief: outside }),
    };
  } finally {
    await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A path of the repository as one of the project; none for what is outside of it. */
function inside(within: string, path: string): string[] {
  if (within === '') return [path];
  return path.startsWith(`${within}/`) ? [path.slice(within.length + 1)] : [];
}

/** Changed files that the brief does not name, or that are outside of the project: relative to the repository. */
function outsideOf(brief: Brief | undefined, all: readonly ChangedName[], within: string): string[] {
  if (brief?.files === undefined) return [];
  const isNamed = (name: string): boolean => matching(brief.files, [name]).length > 0;
  return all.flatMap(({ path }) => (inside(within, path).some(isNamed) ? [] : [path])).slice(0, MAX_NAMES);
}

function isTest(checks: readonly Check[], path: string): boolean {
  return checks.some((check) => testFiles(check, [path]).length > 0);
}

/** What is installed or built there is in no commit; what the copy has itself stays, and nothing is made behind a link of it. */
async function link(names: readonly string[], from: string, to: string): Promise<void> {
  for (const name of names) {
    const place = join(to, name);
    const real = await realpath(dirname(place)).catch(ignoreMissing);
    if (real !== dirname(place)) continue;
    await symlink(join(from, name), place).catch((error: unknown) => {
      if (systemCodeOf(error) !== 'EEXIST') throw error;
    });
  }
}

/** Runs a check, or another command line of it, in one copy. */
async function runOn(
  run: Run,
  name: 'after' | 'before',
  check: Check,
  command = check.command,
): Promise<CheckResult> {
  const { options, signal } = run;
  const { folder, setups } = run[name];
  const real = await realpath(folder).catch(ignoreMissing);
  if (real !== undefined && real !== folder)
    return { name: check.name, command, verdict: 'not run', why: 'the project is a link there' };
  const one = async (line: string): Promise<CheckResult> => {
    const outputFolder = join(options.outputFolder, `${++run.commands}`);
    const runner = { ...options, folder, outputFolder, trees: NO_TREES };
    const { results } = await runChecks([{ ...check, command: line }], runner, signal);
    return (
      results[0] ?? { name: check.name, command: line, verdict: 'not run', why: 'the checks were stopped' }
    );
  };
  const { setup } = check;
  if (setup !== undefined && !setups.has(setup)) {
    const { verdict, why } = await one(setup);
    setups.set(setup, verdict === 'met' ? undefined : `its setup is ${verdict}: ${why ?? ''}`);
  }
  const why = setup === undefined ? undefined : setups.get(setup);
  return why === undefined ? one(command) : { name: check.name, command, verdict: 'not run', why };
}

const NO_TREES: CheckRunnerOptions['trees'] = {
  now: () => Promise.resolve(undefined),
  changed: () => Promise.resolve([]),
};

/** Red before, green after: of each test file alone, or of the whole check where it has no command for one file. */
async function testsOf(run: Run, check: Check, changed: readonly ChangedName[]): Promise<TestVerdict[]> {
  const { name, each, tests } = check;
  const files = changed.filter(
    ({ path, change }) => change !== 'removed' && testFiles(check, [path]).length > 0,
  );
  if (tests !== undefined && files.length === 0) return [];
  if (each === undefined || tests === undefined) {
    const after = (await runOn(run, 'after', check)).verdict;
    const before = (await runOn(run, 'before', check)).verdict;
    return [verdict({ check: name, ...(tests === undefined && { whole: true }) }, after, before)];
  }
  const found: TestVerdict[] = [];
  for (const { path: file, change } of files.slice(0, MAX_TEST_FILES)) {
    const line = each.replaceAll(FILE_PLACE, quoted(file));
    const after = (await runOn(run, 'after', check, line)).verdict;
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

/** One word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
