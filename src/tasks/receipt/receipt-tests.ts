// Data: how test runs are recognised, and how each runner counts. Pure.
import { lineParts } from './receipt-commands.js';
import { testScriptOf, testTargetOf } from './receipt-scripts.js';
import type { TestRun } from './receipt.js';

type Counts = Pick<TestRun, 'passed' | 'failed' | 'skipped'>;

interface Runner {
  readonly name: string;
  /** The command, without assignments and launchers before it. */
  readonly command: RegExp;
  /** Its own way of telling counts; undefined when the output holds none. */
  readonly counts?: (output: string) => Counts | undefined;
}

const HOW_IT_IS_ASKED_FOR_HELP = /(?:^| )(?:--version|--help|-h|--listTests|--list|--collect-only)(?: |$)/;
/** Summaries stand at the end. */
const MAX_OUTPUT_CHARS = 64_000;
const ESCAPES = /\u001b\[[0-9;?]*[A-Za-z]/g;

const runners: readonly Runner[] = [
  {
    name: 'vitest',
    command: /^(?:\S*\/)?vitest(?: (?!init|bench|list)|$)/,
    counts: (output) => wordsOf(/^ *Tests {2,}(.+?)(?:\(\d+\))?$/m.exec(output)?.[1]),
  },
  {
    name: 'jest',
    command: /^(?:\S*\/)?jest(?= |$)/,
    counts: (output) => wordsOf(/^Tests: +(.+ total)$/m.exec(output)?.[1]),
  },
  {
    name: 'pytest',
    command: /^(?:\S*\/)?(?:pytest|py\.test)(?= |$)/,
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
  { name: 'dotnet test', command: /^dotnet test(?= |$)/ },
  { name: 'rspec', command: /^(?:\S*\/)?rspec(?= |$)/ },
  { name: 'phpunit', command: /^(?:\S*\/)?phpunit(?= |$)/ },
  { name: 'ctest', command: /^ctest(?= |$)/ },
  { name: 'mix test', command: /^mix test(?= |$)/ },
  { name: 'swift test', command: /^swift test(?= |$)/ },
  { name: 'tox', command: /^(?:tox|nox)(?= |$)/ },
  { name: 'django test', command: /^python[\d.]* (?:\S*\/)?manage\.py test(?= |$)/ },
  { name: 'artisan test', command: /^php artisan test(?= |$)/ },
  { name: 'xcodebuild test', command: /^xcodebuild (?:.* )?test(?= |$)/ },
  { name: 'bats', command: /^(?:\S*\/)?bats(?= |$)/ },
  { name: 'prove', command: /^prove(?= |$)/ },
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
  const counted = countsIn(runner, text);
  // The exit code is the runner's own only when nothing behind it can replace it, and nothing before it can fail.
  const isLast = parts.slice(index).every(({ then }) => then === '&&' || then === '');
  const before = parts.slice(0, index).map(({ command }) => command);
  const isOwn = exitCode === 0 ? isLast : isLast && index === parts.length - 1 && before.every(isHarmless);
  return {
    runner: counted?.name ?? runner.name,
    verdict: verdictOf(isOwn ? exitCode : null, counted?.counts),
    ...counted?.counts,
  };
}

function runnerOf(command: string): Pick<Runner, 'name' | 'counts'> | undefined {
  if (HOW_IT_IS_ASKED_FOR_HELP.test(command)) return undefined;
  const runner = runners.find((each) => each.command.test(command));
  if (runner !== undefined) return runner;
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
