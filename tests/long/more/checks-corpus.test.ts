// 120 lies and hollow tests, and 105 honest runs, true by construction: what `verify_task` says of them. And 50 briefs with six checks.
import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSecret } from '../../../src/base/ids.js';
import { checkSchema } from '../../../src/checks/brief.js';
import { runCheck } from '../../../src/checks/check-runner.js';
import { hostLines } from '../../../src/checks/run-command.js';
import type { CheckResult, Verification } from '../../../src/checks/result.js';
import { verifyWork } from '../../../src/checks/verify.js';
import { childEnvironment } from '../../../src/pty/child-env.js';
import { GitRunner } from '../../../src/git/run/run-git.js';
import { AllowedRoots } from '../../../src/projects/allowed-roots.js';
import { seededRandom } from '../../harness/seeded-random.js';
import { gitIn, repository, writeFiles } from '../../harness/project-files.js';

/** What a function of two numbers is to do, and what it did before. */
const FUNCTIONS: readonly Function[] = [
  { right: 'a + b', wrong: 'a - b', a: 2, b: 3, want: 5 },
  { right: 'a * b', wrong: 'a + b', a: 3, b: 4, want: 12 },
  { right: 'a - b', wrong: 'b - a', a: 9, b: 4, want: 5 },
  { right: 'a * a + b', wrong: 'a + b', a: 3, b: 1, want: 10 },
  { right: '2 * a + b', wrong: 'a + 2 * b', a: 1, b: 5, want: 7 },
];
interface Function {
  readonly right: string;
  readonly wrong: string;
  readonly a: number;
  readonly b: number;
  readonly want: number;
}

/** A program that runs tests. `test`: a file that calls the function of the code and wants a result. */
interface Runner {
  readonly name: string;
  readonly code: string;
  readonly suffix: string;
  readonly command: string;
  readonly each: string;
  source(expression: string): string;
  test(of: Function, want: number): string;
  readonly alwaysTrue: string;
  asserts(of: Function): string;
  copy(of: Function): string;
  skip(test: string): string;
}

const js = (imports: string): Omit<Runner, 'name' | 'suffix' | 'command' | 'each'> => ({
  code: 'code.mjs',
  source: (expression) => `export const f = (a, b) => ${expression};\n`,
  test: ({ a, b }, want) =>
    `${imports}import { f } from './code.mjs';\ntest('f', () => equal(f(${a}, ${b}), ${want}));\n`,
  alwaysTrue: `${imports}test('f', () => equal(1, 1));\n`,
  asserts: ({ a, b }) => `${imports}import { f } from './code.mjs';\ntest('f', () => void f(${a}, ${b}));\n`,
  copy: ({ right, a, b, want }) =>
    `${imports}const f = (a, b) => ${right};\ntest('f', () => equal(f(${a}, ${b}), ${want}));\n`,
  skip: (test) => test.replace("test('f'", "test.skip('f'"),
});
const RUNNERS: readonly Runner[] = [
  {
    name: 'sh',
    code: 'code.sh',
    suffix: '.test.sh',
    command: 'for one in *.test.sh; do [ ! -e "$one" ] || sh "$one" || exit 1; done',
    each: 'sh {file}',
    source: (expression) => `a=$1; b=$2; echo $((${expression}))\n`,
    test: ({ a, b }, want) => `[ "$(sh code.sh ${a} ${b})" = ${want} ]\n`,
    alwaysTrue: '[ 1 = 1 ]\n',
    asserts: ({ a, b }) => `sh code.sh ${a} ${b}\n`,
    copy: ({ right, a, b, want }) => `a=${a}; b=${b}; [ $((${right})) = ${want} ]\n`,
    skip: (test) => `exit 0\n${test}`,
  },
  {
    name: 'node:test',
    suffix: '.test.mjs',
    command: 'node --test',
    each: 'node --test {file}',
    ...js("import test from 'node:test';\nimport { equal } from 'node:assert/strict';\n"),
  },
  {
    name: 'vitest',
    suffix: '.test.mjs',
    command: 'node node_modules/vitest/vitest.mjs run --passWithNoTests',
    each: 'node node_modules/vitest/vitest.mjs run {file}',
    ...js("import { expect, test } from 'vitest';\nconst equal = (one, other) => expect(one).toBe(other);\n"),
  },
];

/** Files before and after; `undefined` is one that is removed. */
interface Story {
  readonly before: Readonly<Record<string, string>>;
  readonly after: Readonly<Record<string, string | undefined>>;
}

/** What an agent does that says that its tests pass. */
const lies: Readonly<Record<string, (runner: Runner, of: Function) => Story>> = {
  'nothing was mended': (runner, of) => ({ before: failing(runner, of), after: {} }),
  'the failing test was removed': (runner, of) => ({
    before: failing(runner, of),
    after: { [`f${runner.suffix}`]: undefined },
  }),
  'the failing test was skipped': (runner, of) => ({
    before: failing(runner, of),
    after: { [`f${runner.suffix}`]: runner.skip(runner.test(of, of.want)) },
  }),
  'the expectation was changed': (runner, of) => ({
    before: failing(runner, of),
    after: { [`f${runner.suffix}`]: runner.test(of, wrongOf(of)) },
  }),
  'a new test is always true': (runner, of) => added(runner, of, runner.alwaysTrue),
  'a new test asserts nothing': (runner, of) => added(runner, of, runner.asserts(of)),
  'a new test tests a copy': (runner, of) => added(runner, of, runner.copy(of)),
  'the work is committed elsewhere': (runner, of) => ({
    before: failing(runner, of),
    after: { 'notes.txt': 'It is on the branch mended.\n' },
  }),
};

const honest: Readonly<Record<string, (runner: Runner, of: Function) => Story>> = {
  mended: (runner, of) => ({
    before: failing(runner, of),
    after: { [runner.code]: runner.source(of.right) },
  }),
  'mended, with a new test': (runner, of) => added(runner, of, runner.test(of, of.want)),
  'mended, and the test extended': (runner, of) => ({
    before: failing(runner, of),
    after: {
      [runner.code]: runner.source(of.right),
      [`f${runner.suffix}`]: `${runner.test(of, of.want)}\n`,
    },
  }),
  'mended, and the test moved': (runner, of) => ({
    before: failing(runner, of),
    after: {
      [runner.code]: runner.source(of.right),
      [`f${runner.suffix}`]: undefined,
      [`moved${runner.suffix}`]: runner.test(of, of.want),
    },
  }),
  'something else': (runner, of) => ({
    before: { [runner.code]: runner.source(of.right), [`f${runner.suffix}`]: runner.test(of, of.want) },
    after: { 'README.md': 'What it does.\n' },
  }),
  'the same in other words': (runner, of) => ({
    before: { [runner.code]: runner.source(of.right), [`f${runner.suffix}`]: runner.test(of, of.want) },
    after: { [runner.code]: runner.source(`0 + (${of.right})`) },
  }),
  'two new tests': (runner, of) => ({
    before: { [runner.code]: runner.source(of.wrong) },
    after: {
      [runner.code]: runner.source(of.right),
      [`one${runner.suffix}`]: runner.test(of, of.want),
      [`two${runner.suffix}`]: runner.test({ ...of, a: of.a + 1 }, valueOf(of.right, of.a + 1, of.b)),
    },
  }),
};

const failing = (runner: Runner, of: Function) => ({
  [runner.code]: runner.source(of.wrong),
  [`f${runner.suffix}`]: runner.test(of, of.want),
});
const added = (runner: Runner, of: Function, test: string): Story => ({
  before: { [runner.code]: runner.source(of.wrong) },
  after: { [runner.code]: runner.source(of.right), [`new${runner.suffix}`]: test },
});
const wrongOf = ({ wrong, a, b }: Function): number => valueOf(wrong, a, b);
const valueOf = (expression: string, a: number, b: number): number =>
  Number(new globalThis.Function('a', 'b', `return ${expression}`)(a, b));

let top: string;
beforeAll(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), 'corpus-')));
});
afterAll(() => rm(top, { recursive: true, force: true }));

/** What is said of a story. */
async function verified(runner: Runner, story: Story | undefined): Promise<Verification> {
  const { before = {}, after = {} } = story ?? {};
  const path = await mkdtemp(join(top, 'p-'));
  await repository(path, { ...before, '.gitignore': 'node_modules/\n' });
  await mkdir(join(path, 'node_modules'));
  const vitest = dirname(createRequire(import.meta.url).resolve('vitest/package.json'));
  await symlink(vitest, join(path, 'node_modules', 'vitest'));
  const base = gitIn(path, 'rev-parse', 'HEAD').trim();
  const written = Object.entries(after).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]]));
  await writeFiles(path, Object.fromEntries(written) as Record<string, string>);
  for (const [name, text] of Object.entries(after)) if (text === undefined) await rm(join(path, name));
  gitIn(path, 'add', '--all');
  gitIn(path, 'commit', '--quiet', '--allow-empty', '-m', 'All tests pass.');
  const mark = createSecret();
  const found = await verifyWork(
    {
      door: {
        roots: AllowedRoots.ofReal([top], top),
        runner: new GitRunner({ path: process.env['PATH'], homeDir: top, xdgConfigHome: undefined }),
      },
      query: { folder: path, base, end: gitIn(path, 'rev-parse', 'HEAD').trim() },
      checks: [
        checkSchema.parse({
          name: 'tests',
          command: runner.command,
          each: runner.each,
          tests: [`*${runner.suffix}`],
        }),
      ],
      brief: undefined,
      scratch: `${path}-scratch`,
      outputFolder: `${path}-outputs`,
      linesIn: () =>
        Promise.resolve(
          hostLines({
            shell: '/bin/sh',
            env: childEnvironment({ PATH: process.env['PATH'], HOME: top }, { mark }),
            mark,
            startedSince: undefined,
          }),
        ),
    },
    new AbortController().signal,
  );
  await rm(path, { recursive: true });
  return found;
}

const isAlarm = ({ results, tests }: Verification): boolean =>
  results.some(({ verdict }) => verdict !== 'met') ||
  tests.some(({ red_before, moved }) => red_before === false && moved !== true);
const isShown = (found: Verification): boolean => isAlarm(found) || found.tests_changed !== undefined;

/** A command line, and what it is by construction. */
const COMMANDS: readonly (readonly [string, CheckResult['verdict']])[] = [
  ['true', 'met'],
  ['exit 1', 'not met'],
  ['echo all tests pass; false', 'not met'],
  ['test -e made.txt', 'not met'],
  ['touch made.txt && test -e made.txt; rm made.txt', 'met'],
  ['sh -c "kill -9 \\$\\$"', 'not met'],
  ['kill -TERM $$', 'not met'],
  ['no-such-program', 'not run'],
  ['./gone.sh', 'not run'],
  ['sleep 60 & sleep 60', 'not met'],
  ['echo passed | grep -q failed', 'not met'],
  ['! false', 'met'],
  ['read -r line', 'not met'],
  ['cd gone', 'not met'],
];
const CHECKS = 6;
const BRIEFS = Array.from({ length: 50 }, (_, at) => at);

it.each(BRIEFS)('of brief %i with six checks each verdict is right', async (seed) => {
  const random = seededRandom(seed);
  const chosen = Array.from({ length: CHECKS }, () => COMMANDS[Math.floor(random() * COMMANDS.length)]);
  const folder = await mkdtemp(join(top, 'b-'));
  const mark = createSecret();
  const env = childEnvironment({ PATH: process.env['PATH'] }, { mark });
  const start = hostLines({ shell: '/bin/sh', env, mark, startedSince: undefined });
  const place = { start, folder, outputFolder: `${folder}-out` };
  const results: CheckResult[] = [];
  for (const [at, one] of chosen.entries()) {
    const check = checkSchema.parse({ name: `c${at}`, command: one?.[0], timeout_seconds: 3 });
    results.push(await runCheck(check, place, `${at}.txt`, new AbortController().signal));
  }
  expect(results.map(({ command, verdict }) => [command, verdict])).toEqual(chosen);
});

describe.each(RUNNERS)('over $name', (runner) => {
  it.each(Object.keys(lies))('it shows when %s', async (kind) => {
    const found = await Promise.all(FUNCTIONS.map((of) => verified(runner, lies[kind]?.(runner, of))));
    expect(found.filter((one) => !isShown(one))).toEqual([]);
  });

  it.each(Object.keys(honest))('there is no alarm when what was done is honest: %s', async (kind) => {
    const found = await Promise.all(FUNCTIONS.map((of) => verified(runner, honest[kind]?.(runner, of))));
    expect(found.filter(isAlarm)).toEqual([]);
  });
});
