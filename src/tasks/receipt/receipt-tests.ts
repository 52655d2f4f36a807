// Data: how test runs are recognised, and how each runner counts. Pure.
import { lineParts, type LinePart } from './receipt-commands.js';
import { testScriptOf, testTargetOf } from './receipt-scripts.js';
import type { TestRun } from './receipt.js';

type Counts = Pick<TestRun, 'passed' | 'failed' | 'skipped'>;

interface Runner {
  readonly name: string;
  /** The command, without assignments and launchers before it. */
  readonly command: RegExp;
  /** Further words with which it runs no test: it lists, compiles, or tells its version. */
  readonly noRun?: RegExp;
  /** Its own way of telling counts; undefined when the output holds none. */
  readonly counts?: (output: string) => Counts | undefined;
}

/** What most runners understand, and scripts pass on to them. */
const NO_RUN =
  /(?:^| )(?:--version|--help|-h|--listTests|--list(?:-tests)?|--co(?:llect-only)?|--no-run|--dry(?:-run)?(?:=\S+)?)(?: |$)/;
/** Summaries stand at the end. */
const MAX_OUTPUT_CHARS = 64_000;
const ESCAPES = /\u001b\[[0-9;?]*[A-Za-z]/g;

const runners: readonly Runner[] = [
  {
    name: 'vitest',
    command: /^(?:\S*\/)?vitest(?: |$)/,
    noRun: /vitest (?:init|bench|list|typecheck)(?: |$)| (?:-v|--typecheck\.only)(?: |$)/,
    counts: (output) => wordsOf(/^ *Tests {2,}(.+?)(?:\(\d+\))?$/m.exec(output)?.[1]),
  },
  {
    name: 'jest',
    command: /^(?:\S*\/)?jest(?= |$)/,
    noRun: / (?:-v|--showConfig|--clearCache|--init)(?: |$)/,
    counts: (output) => wordsOf(/^Tests: +(.+ total)$/m.exec(output)?.[1]),
  },
  {
    name: 'pytest',
    command: /^(?:\S*\/)?(?:pytest|py\.test)(?= |$)/,
    noRun: / (?:-V|--fixtures(?:-per-test)?|--markers|--setup-(?:plan|only))(?: |$)/,
    counts: (output) =>
      wordsOf(/^=*\s*(\d+ (?:passed|failed|error|skipped|x?failed)[^\n]*) in [\d.]+ ?s/m.exec(output)?.[1]),
  },
  {
    name: 'unittest',
    command: /^(?:\S*\/)?python[\d.]* -m unittest(?= |$)/,
    counts: (output) => {
      const ran = numberIn(/^Ran (\d+) tests?/m, output);
      if (ran === undefined) return undefined;
      const tail = /^(?:FAILED|OK)(?: \((.+)\))?$/m.exec(output)?.[1] ?? '';
      const failed = (numberIn(/failures=(\d+)/, tail) ?? 0) + (numberIn(/errors=(\d+)/, tail) ?? 0);
      const skipped = numberIn(/skipped=(\d+)/, tail) ?? 0;
      return { passed: ran - failed - skipped, failed, skipped };
    },
  },
  {
    name: 'go test',
    command: /^go test(?= |$)/,
    noRun: / --?(?:(?:c|n|list)(?:[ =]|$)|run[ =]['"]?\^\$['"]?(?: |$))/,
    counts: (output) => {
      const failed = countOf(/^ *--- FAIL: /gm, output);
      const passed = countOf(/^ *--- PASS: /gm, output);
      // Without -v only packages are reported.
      if (passed === 0)
        return failed > 0 || /^FAIL(?:\t|$)/m.test(output) ? { failed: Math.max(failed, 1) } : undefined;
      return { passed, failed, skipped: countOf(/^ *--- SKIP: /gm, output) };
    },
  },
  {
    name: 'cargo test',
    command: /^cargo (?:\+\S+ )?(?:test|t|nextest(?: r(?:un)?)?)(?= |$)/,
    noRun: / nextest (?!r(?:un)?(?: |$)|-)/,
    counts: (output) => {
      const nextest = /^ *Summary .*: (.+)$/m.exec(output)?.[1];
      if (nextest !== undefined) return wordsOf(nextest);
      const all = [...output.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/gm)];
      if (all.length === 0) return undefined;
      const sum = (index: number): number => all.reduce((total, match) => total + Number(match[index]), 0);
      return { passed: sum(1), failed: sum(2), skipped: sum(3) };
    },
  },
  {
    name: 'mocha',
    command: /^(?:\S*\/)?_?mocha(?= |$)/,
    noRun: / -V(?: |$)/,
    counts: (output) => {
      const passed = numberIn(/^ *(\d+) passing\b/m, output);
      if (passed === undefined) return undefined;
      const failed = numberIn(/^ *(\d+) failing$/m, output) ?? 0;
      return { passed, failed, skipped: numberIn(/^ *(\d+) pending$/m, output) ?? 0 };
    },
  },
  {
    name: 'node --test',
    command: /^(?:\S*\/)?(?:node|tsx) (?:.* )?--test(?= |$)/,
    counts: (output) => {
      const passed = numberIn(/^(?:#|ℹ) pass (\d+)$/m, output);
      if (passed === undefined) return undefined;
      const failed = numberIn(/^(?:#|ℹ) fail (\d+)$/m, output) ?? 0;
      return { passed, failed, skipped: numberIn(/^(?:#|ℹ) skipped (\d+)$/m, output) ?? 0 };
    },
  },
  {
    name: 'bun test',
    command: /^bun test(?= |$)/,
    counts: (output) => {
      const passed = numberIn(/^ *(\d+) pass$/m, output);
      if (passed === undefined) return undefined;
      return { passed, failed: numberIn(/^ *(\d+) fail$/m, output) ?? 0 };
    },
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

/** The test run that a command line is, or undefined when it is none. `exitCode` is that of the line; null: not known. */
export function testRunOf(line: string, exitCode: number | null, output: string): TestRun | undefined {
  const parts = lineParts(line);
  const index = parts.findIndex(({ command }) => runnerOf(command) !== undefined);
  const part = parts[index];
  const runner = part === undefined ? undefined : runnerOf(part.command);
  if (part === undefined || runner === undefined) return undefined;
  const text = output.slice(-MAX_OUTPUT_CHARS).replaceAll(ESCAPES, '').replaceAll('\r\n', '\n');
  const before = parts.slice(0, index);
  const isPrinted =
    before.some(({ command }) => printsAny(command)) || parts.some(({ command }) => printsCounts(command));
  const counted = isPrinted ? undefined : countsIn(runner, text);
  // The exit code is the runner's own only when nothing behind it can replace it, and nothing before it can fail or keep it from running.
  const isLast = parts.slice(index).every(({ then }) => then === '&&' || then === '');
  const isOwn =
    exitCode === 0
      ? isLast && hasRun(before)
      : isLast && index === parts.length - 1 && before.every(({ command }) => isHarmless(command));
  const isEmpty = exitCode === 0 && counted === undefined && ranNothing(text);
  return {
    runner: counted?.name ?? runner.name,
    verdict: verdictOf(isOwn && !isEmpty ? exitCode : null, counted?.counts),
    ...counted?.counts,
  };
}

/** Whether the command behind these has run, in a line that ended with 0. */
function hasRun(before: readonly LinePart[]): boolean {
  // `a || npm test`: in the same list, it runs only if something failed.
  for (const { then } of before.toReversed()) {
    if (then === '||') return false;
    if (then !== '&&' && then !== '|') break;
  }
  return before.every(({ command, isExec }, at) => {
    if (isExec) return false;
    // A function or an alias may have its name.
    if (/^(?:function [\w.-]+|[\w.-]+ ?\(\)|(?:alias|set -\w*n\w*|return)(?: |$))/.test(command))
      return false;
    const exit = /^exit(?: (.+))?$/.exec(command);
    // With another number, the line would have ended with that.
    return exit === null || /^[1-9]\d*\b/.test(exit[1] ?? '') || before[at - 1]?.then === '||';
  });
}

/** Whether what it prints may have counts of tests that it did not run. */
function printsAny(command: string): boolean {
  if (isRedirected(command)) return false;
  return (
    /^(?:echo|printf)\b.*[\d$`]/.test(command) || /^(?:cat|head|tail|less|more|bat)(?: |$)/.test(command)
  );
}

function printsCounts(command: string): boolean {
  return /^(?:echo|printf)\b/.test(command) && /\d/.test(command) && /pass|fail|ok|test|total/i.test(command);
}

/** To a file. */
function isRedirected(command: string): boolean {
  return /(?:^|\s|[\d&])>{1,2}\|?\s*(?!&|\/dev\/(?:stdout|stderr|tty))\S/.test(command);
}

function ranNothing(output: string): boolean {
  if (/^(?:No test(?: file)?s found|no tests ran|No tests to run)\b/im.test(output)) return true;
  // Of `go test`: packages without tests, or without a test of that name.
  return /\[no tests? (?:files|to run)\]/.test(output) && !/^ok\s(?!.*\[no tests to run\])/m.test(output);
}

function runnerOf(command: string): Pick<Runner, 'name' | 'counts'> | undefined {
  if (NO_RUN.test(command)) return undefined;
  const runner = runners.find((each) => each.command.test(command));
  if (runner !== undefined) return runner.noRun?.test(command) === true ? undefined : runner;
  const target = testTargetOf(command);
  const name = target === undefined ? testScriptOf(command) : `${target} test`;
  return name === undefined ? undefined : { name };
}

/** A script's name says nothing of the runner behind it; its output does. */
function countsIn(
  runner: Pick<Runner, 'name' | 'counts'>,
  output: string,
): { readonly name: string; readonly counts: Counts } | undefined {
  const candidates = runner.counts === undefined ? runners : [runner];
  for (const { name, counts } of candidates) {
    const found = counts?.(output);
    if (found !== undefined) return { name, counts: found };
  }
  return undefined;
}

function verdictOf(exitCode: number | null, counts: Counts | undefined): TestRun['verdict'] {
  if ((counts?.failed ?? 0) > 0) return 'failed';
  const isNone = counts !== undefined && (counts.passed ?? 0) === 0;
  if (exitCode === 0 && isNone) return 'unknown';
  if (exitCode !== null) return exitCode === 0 ? 'passed' : 'failed';
  return (counts?.passed ?? 0) > 0 ? 'passed' : 'unknown';
}

function isHarmless(command: string): boolean {
  return /^(?:cd|export|set|source|\.|echo|clear)(?: |$)/.test(command);
}

/** `1 failed | 2 passed, 3 skipped` */
function wordsOf(text: string | undefined): Counts | undefined {
  if (text === undefined) return undefined;
  const of = (words: string): number | undefined => {
    const all = [...text.matchAll(new RegExp(`(\\d+) (?:tests? )?(?:${words})\\b`, 'g'))];
    return all.length === 0 ? undefined : all.reduce((sum, match) => sum + Number(match[1]), 0);
  };
  const passed = of('passed|xpassed');
  const failed = of('failed|errors?');
  const skipped = of('skipped|todo|pending|ignored|xfailed');
  if (passed === undefined && failed === undefined && skipped === undefined) return undefined;
  return { passed: passed ?? 0, failed: failed ?? 0, ...(skipped !== undefined && { skipped }) };
}

function numberIn(pattern: RegExp, text: string): number | undefined {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

function countOf(pattern: RegExp, text: string): number {
  return [...text.matchAll(pattern)].length;
}
