// Pure: numbers of tests, as summaries in an output tell them.
import type { TestRun } from './receipt.js';

export type Counts = Pick<TestRun, 'passed' | 'failed' | 'skipped'>;

/** What an output tells of tests. */
export interface Reading {
  /** Of all summaries together. */
  readonly counts: Counts;
  readonly summaries: number;
}

/** Of summaries in words: `1 failed | 2 passed, 3 skipped` is what the pattern's first group finds. */
export function wordsIn(pattern: RegExp, output: string): Reading | undefined {
  const all = [...output.matchAll(pattern)].flatMap(([, words = '']) => wordCounts(words) ?? []);
  return all.length === 0 ? undefined : { counts: sumOf(all), summaries: all.length };
}

/** Of summaries with a line for each number. Without a line for `passed` there is none. */
export function linesIn(
  output: string,
  patterns: { readonly passed: RegExp; readonly failed: RegExp; readonly skipped?: RegExp },
): Reading | undefined {
  const summaries = [...output.matchAll(patterns.passed)].length;
  if (summaries === 0) return undefined;
  const { passed, failed, skipped } = patterns;
  const counts = {
    passed: numbersIn(passed, output),
    failed: numbersIn(failed, output),
    ...(skipped !== undefined && { skipped: numbersIn(skipped, output) }),
  };
  return { counts, summaries };
}

/** The sum of what the first group finds. */
export function numbersIn(pattern: RegExp, text: string): number {
  return [...text.matchAll(pattern)].reduce((sum, [, number]) => sum + Number(number), 0);
}

export function matchesIn(pattern: RegExp, text: string): number {
  return [...text.matchAll(pattern)].length;
}

/** A number that nobody told stays unknown. */
export function sumOf(all: readonly Counts[]): Counts {
  const of = (name: keyof Counts): Counts => {
    const known = all.flatMap((counts) => counts[name] ?? []);
    return known.length === 0 ? {} : { [name]: known.reduce((sum, number) => sum + number) };
  };
  return { ...of('passed'), ...of('failed'), ...of('skipped') };
}

function wordCounts(text: string): Counts | undefined {
  const of = (words: string): number | undefined => {
    const all = [...text.matchAll(new RegExp(`(?<!\\d)(\\d+) (?:tests? )?(?:${words})\\b`, 'g'))];
    return all.length === 0 ? undefined : all.reduce((sum, match) => sum + Number(match[1]), 0);
  };
  const passed = of('passed|xpassed');
  const failed = of('failed|errors?');
  const skipped = of('skipped|todo|pending|ignored|xfailed');
  if (passed === undefined && failed === undefined && skipped === undefined) return undefined;
  return { passed: passed ?? 0, failed: failed ?? 0, ...(skipped !== undefined && { skipped }) };
}

/** One of these means that tests ran, beside others that did not. */
const RAN_SOME =
  /\b[1-9]\d* (?:examples?|tests?|runs?|specs?|passed|passing|assertions)\b|Tests run: *[1-9]|Passed: *[1-9]|^(?:not )?ok \d|^> Task \S*[tT]est$|^1\.\.[1-9]/m;
const RAN_NONE = [
  /^(?:\[INFO\] )?No test(?: file)?s found\b/im,
  /^(?:\[INFO\] )?(?:no tests ran|No tests (?:to run|executed|were found)|No test matches the given)\b/im,
  /^(?:\[INFO\] )?Tests are skipped\./m,
  /^ *0 (?:examples|tests), 0 failures\b/m,
  /^ *0 runs, 0 assertions\b/m,
  /^ok \| 0 passed\b.* 0 failed\b/m,
  /^[ \t]*Executed 0 tests\b/m,
  /^(?:> Task )?\S*:\w*[tT]est\w* NO-SOURCE$/m,
  /^Result: NOTESTS$/m,
  /^1\.\.0\b/m,
];

/** Whether the output says that no test ran. */
export function ranNothing(output: string): boolean {
  if (RAN_NONE.some((pattern) => pattern.test(output))) return !RAN_SOME.test(output);
  // Of `go test`: packages without tests, or without a test of that name.
  return /\[no tests? (?:files|to run)\]/.test(output) && !/^ok\s(?!.*\[no tests to run\])/m.test(output);
}
