// Data: how test runs are recognised, and how each runner counts. Pure.
import { linesIn, matchesIn, numbersIn, sumOf, wordsIn, type Reading } from './receipt-counts.js';
import { testScriptOf, testTargetOf } from './receipt-scripts.js';
import { wordsOf } from './receipt-words.js';

export interface Runner {
  readonly name: string;
  /** Its own way of telling counts; undefined when the output holds none, or when only its script's name is known. */
  readonly read?: (output: string) => Reading | undefined;
  /** A failure that no count tells: a suite that could not be loaded. */
  readonly broken?: RegExp;
}

interface KnownRunner extends Runner {
  /** The command, without assignments and launchers before it. */
  readonly command: RegExp;
  /** Further words with which it runs no test: it lists, compiles, or tells its version. */
  readonly noRun?: RegExp;
}

/** What most runners understand, and scripts pass on to them. */
const NO_RUN =
  /^(?:--version|--help|-h|--listTests|--list(?:-tests)?|--co(?:llect-?only)?|--no-run|--dry(?:-run)?(?:=\S+)?|--if-present)$/;

const runners: readonly KnownRunner[] = [
  {
    name: 'vitest',
    command: /^(?:\S*\/)?vitest(?: |$)/,
    noRun: /vitest (?:init|bench|list|typecheck)(?: |$)| (?:-v|--typecheck\.only)(?: |$)/,
    read: (output) => wordsIn(/^ *Tests {2,}(.+?)(?:\(\d+\))?$/gm, output),
    broken: /^ *(?:Test Files {2,}.*?\b[1-9]\d* failed|Errors {2,}[1-9]\d* errors?)\b/m,
  },
  {
    name: 'jest',
    command: /^(?:\S*\/)?jest(?= |$)/,
    noRun: / (?:-v|--showConfig|--clearCache|--init)(?: |$)/,
    read: (output) => wordsIn(/^Tests: +(.+ total)$/gm, output),
    broken: /^Test Suites: .*?\b[1-9]\d* failed\b/m,
  },
  {
    name: 'pytest',
    command: /^(?:\S*\/)?(?:pytest|py\.test)(?= |$)/,
    noRun: / (?:-V|--fixtures(?:-per-test)?|--markers|--setup-(?:plan|only))(?: |$)/,
    read: (output) =>
      wordsIn(/^=* *(\d+ (?:passed|failed|error|skipped|x?failed)[^\n]*) in [\d.]+ ?s/gm, output),
  },
  {
    name: 'unittest',
    command: /^(?:\S*\/)?python[\d.]* -m unittest(?= |$)/,
    read: (output) => {
      const summaries = matchesIn(/^Ran \d+ tests?/gm, output);
      if (summaries === 0) return undefined;
      const ran = numbersIn(/^Ran (\d+) tests?/gm, output);
      const ends = output.match(/^(?:FAILED|OK) \(.+\)$/gm)?.join('\n') ?? '';
      const failed = numbersIn(/\b(?:failures|errors)=(\d+)/g, ends);
      const skipped = numbersIn(/\bskipped=(\d+)/g, ends);
      return { counts: { passed: ran - failed - skipped, failed, skipped }, summaries };
    },
  },
  {
    name: 'go test',
    command: /^go test(?= |$)/,
    noRun: / --?(?:(?:c|n|list)(?:[ =]|$)|run[ =]['"]?\^\$['"]?(?: |$))/,
    read: (output) => {
      const failed = matchesIn(/^ *--- FAIL: /gm, output);
      const passed = matchesIn(/^ *--- PASS: /gm, output);
      // Without -v only packages are reported.
      if (passed === 0) return failed > 0 ? { counts: { failed }, summaries: 1 } : undefined;
      const skipped = matchesIn(/^ *--- SKIP: /gm, output);
      return {
        counts: { passed, failed, skipped },
        summaries: Math.max(1, matchesIn(/^(?:ok|FAIL)\t/gm, output)),
      };
    },
    broken: /^FAIL(?:\t|$)/m,
  },
  {
    name: 'cargo test',
    command: /^cargo (?:\+\S+ )?(?:test|t|nextest(?: r(?:un)?)?)(?= |$)/,
    noRun: / nextest (?!r(?:un)?(?: |$)|-)/,
    read: (output) =>
      wordsIn(/^ *Summary .*: (.+)$/gm, output) ??
      wordsIn(/^test result: \w+\. (\d+ passed; \d+ failed; \d+ ignored)/gm, output),
  },
  {
    name: 'mocha',
    command: /^(?:\S*\/)?_?mocha(?= |$)/,
    noRun: / -V(?: |$)/,
    read: (output) =>
      linesIn(output, {
        passed: /^ *(\d+) passing\b/gm,
        failed: /^ *(\d+) failing$/gm,
        skipped: /^ *(\d+) pending$/gm,
      }),
  },
  {
    name: 'node --test',
    command: /^(?:\S*\/)?(?:node|tsx) (?:.* )?--test(?= |$)/,
    read: (output) =>
      linesIn(output, {
        passed: /^(?:#|ℹ) pass (\d+)$/gm,
        failed: /^(?:#|ℹ) fail (\d+)$/gm,
        skipped: /^(?:#|ℹ) skipped (\d+)$/gm,
      }),
    broken: /^(?:#|ℹ) cancelled [1-9]/m,
  },
  {
    name: 'bun test',
    command: /^bun test(?= |$)/,
    read: (output) => linesIn(output, { passed: /^ *(\d+) pass$/gm, failed: /^ *(\d+) fail$/gm }),
  },
  { name: 'deno test', command: /^deno test(?= |$)/ },
  { name: 'dotnet test', command: /^dotnet test(?= |$)/, noRun: / -t(?: |$)/ },
  { name: 'rspec', command: /^(?:\S*\/)?rspec(?= |$)/, noRun: / (?:-v|--init)(?: |$)/ },
  {
    name: 'phpunit',
    command: /^(?:\S*\/)?phpunit(?= |$)/,
    noRun: / --(?:list-\w+|check-version|generate-configuration|migrate-configuration)/,
  },
  { name: 'ctest', command: /^ctest(?= |$)/, noRun: / (?:-N|--show-only(?:=\S+)?|--print-labels)(?: |$)/ },
  { name: 'mix test', command: /^mix test(?= |$)/ },
  { name: 'swift test', command: /^swift test(?= |$)/, noRun: / (?:list|-l)(?: |$)/ },
  {
    name: 'tox',
    command: /^(?:tox|nox)(?= |$)/,
    noRun:
      / (?:-l|-a|-n|--listenvs(?:-all)?|--notest|--showconfig|--list-sessions|--install-only)(?: |$)|^tox (?:l|list|c|config|d|devenv|de|depends|q|quickstart)(?: |$)/,
  },
  { name: 'django test', command: /^python[\d.]* (?:\S*\/)?manage\.py test(?= |$)/ },
  { name: 'artisan test', command: /^php artisan test(?= |$)/ },
  {
    name: 'xcodebuild test',
    command: /^xcodebuild (?:.* )?test(?= |$)/,
    noRun: / -(?:list|dry-run|n|show\w+|version)(?: |$)/,
  },
  { name: 'bats', command: /^(?:\S*\/)?bats(?= |$)/, noRun: / (?:-c|--count|-v)(?: |$)/ },
  { name: 'prove', command: /^prove(?= |$)/, noRun: / -[DV](?: |$)/ },
  { name: 'ava', command: /^(?:\S*\/)?ava(?= |$)/ },
  { name: 'cypress', command: /^(?:\S*\/)?cypress run(?= |$)/ },
  { name: 'playwright', command: /^(?:\S*\/)?playwright test(?= |$)/ },
];

/** The runner that a command is, or undefined when it runs no test. */
export function runnerOf(command: string): Runner | undefined {
  if (wordsOf(command).some((word) => NO_RUN.test(word))) return undefined;
  const runner = runners.find((each) => each.command.test(command));
  if (runner !== undefined) return runner.noRun?.test(command) === true ? undefined : runner;
  const target = testTargetOf(command);
  const name = target === undefined ? testScriptOf(command) : `${target} test`;
  return name === undefined ? undefined : { name };
}

/** What an output tells of the tests of these runners, and the name of the first one that counted. */
export function readingOf(
  ran: readonly Runner[],
  output: string,
): (Reading & { readonly name: string }) | undefined {
  // A script's name says nothing of the runner behind it; its output does.
  const candidates = new Set(
    ran.flatMap((runner): readonly Runner[] => (runner.read === undefined ? runners : [runner])),
  );
  const found = [...candidates].flatMap(({ name, read, broken }) => {
    const reading = read?.(output);
    const isBroken = broken?.test(output) === true;
    if (reading === undefined && !isBroken) return [];
    const { counts = {}, summaries = 0 } = reading ?? {};
    const failed = Math.max(counts.failed ?? 0, 1);
    return [{ name, summaries, counts: isBroken ? { ...counts, failed } : counts }];
  });
  const [first] = found;
  if (first === undefined) return undefined;
  const summaries = found.reduce((sum, reading) => sum + reading.summaries, 0);
  return { name: first.name, counts: sumOf(found.map(({ counts }) => counts)), summaries };
}
