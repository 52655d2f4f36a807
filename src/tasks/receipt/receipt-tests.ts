// Pure: the test run that a command line is. It passed only if it certainly ran and certainly passed; it failed only if it ran and failed.
import { lineParts, type LinePart } from './receipt-commands.js';
import { ranNothing, type Reading } from './receipt-counts.js';
import { trustIn } from './receipt-printers.js';
import { hasCertainlyRun, hasRun, isHarmless } from './receipt-reach.js';
import { readingOf, runnerOf, type Runner } from './receipt-runners.js';
import type { TestRun } from './receipt.js';

/** Summaries stand at the end. */
const MAX_OUTPUT_CHARS = 64_000;
/** Of a longer line nothing is certain. */
const MAX_PARTS = 200;
const ESCAPES = /\u001b\[[0-9;?]*[A-Za-z]/g;
/** Of a shell that could not start the program. */
const NOT_STARTED: ReadonlySet<number> = new Set([126, 127]);

/** How a line ended. */
interface End {
  /** That of the line; null: not known. */
  readonly exitCode: number | null;
  readonly output: string;
}

/** The test run that a command line is, or undefined when it is none. `exitCode` is that of the line; null: not known. */
export function testRunOf(line: string, exitCode: number | null, output: string): TestRun | undefined {
  const parts = lineParts(line);
  const runs = new Map<number, Runner>();
  for (const [at, { command }] of parts.entries()) {
    const runner = runnerOf(command);
    if (runner !== undefined) runs.set(at, runner);
  }
  const [first] = runs.values();
  if (first === undefined) return undefined;
  if (parts.length > MAX_PARTS) return { runner: first.name, verdict: 'unknown' };
  const text = output.slice(-MAX_OUTPUT_CHARS).replaceAll(ESCAPES, '').replaceAll('\r\n', '\n');
  const end = { exitCode, output: text };
  const reading = trustedReading(parts, runs, end);
  return {
    runner: first.read === undefined ? (reading?.name ?? first.name) : first.name,
    verdict: verdictOf(parts, runs, end, reading),
    ...reading?.counts,
  };
}

/** The counts that the runs themselves printed. */
function trustedReading(
  parts: readonly LinePart[],
  runs: ReadonlyMap<number, Runner>,
  end: End,
): (Reading & { readonly name: string }) | undefined {
  const isCertain = [...runs.keys()].every((index) => hasCertainlyRun(parts, index, end));
  const { trust, isShownTwice } = trustIn(parts, runs, isCertain);
  if (trust === 'none') return undefined;
  const text = isShownTwice ? [...new Set(end.output.split('\n'))].join('\n') : end.output;
  const reading = readingOf([...runs.values()], text);
  if (trust === 'own') return reading;
  // Words of failure, in a line that failed at its test run.
  const isFailure = end.exitCode !== 0 && isLastRun(parts, runs) && (reading?.counts.failed ?? 0) > 0;
  return isFailure ? reading : undefined;
}

function verdictOf(
  parts: readonly LinePart[],
  runs: ReadonlyMap<number, Runner>,
  end: End,
  reading: Reading | undefined,
): TestRun['verdict'] {
  const { passed = 0, failed = 0 } = reading?.counts ?? {};
  if (failed > 0) return 'failed';
  const { exitCode } = end;
  if (exitCode !== null && isOwn(parts, runs, exitCode, end.output)) {
    if (exitCode !== 0) return NOT_STARTED.has(exitCode) ? 'unknown' : 'failed';
    return reading === undefined ? passedUnless(ranNothing(end.output)) : passedUnless(passed === 0);
  }
  // Each run has told its counts, and a failure of the line may be that of a command behind it.
  const isExplained = exitCode === 0 || exitCode === null || (runs.size === 1 && !isLastRun(parts, runs));
  return passedUnless(passed === 0 || (reading?.summaries ?? 0) < runs.size || !isExplained);
}

function passedUnless(isDoubtful: boolean): TestRun['verdict'] {
  return isDoubtful ? 'unknown' : 'passed';
}

/** Whether the line's exit code is that of its test runs: nothing behind them can replace it, and nothing before them can fail or keep them from running. */
function isOwn(
  parts: readonly LinePart[],
  runs: ReadonlyMap<number, Runner>,
  exitCode: number,
  output: string,
): boolean {
  const places = [...runs.keys()];
  const isInverted = places.some((at) =>
    [at, ...(parts[at]?.groups ?? [])].some((place) => parts[place]?.isInverted === true),
  );
  const isLast = parts.slice(places[0]).every(({ then }) => then === '&&' || then === '');
  if (isInverted || !isLast) return false;
  if (exitCode === 0) return places.every((at) => hasRun(parts, at));
  return runs.has(parts.length - 1) && parts.every((part, at) => runs.has(at) || isHarmless(part, output));
}

/** Whether nothing stands behind the last test run but what its output goes through. */
function isLastRun(parts: readonly LinePart[], runs: ReadonlyMap<number, Runner>): boolean {
  const last = Math.max(...runs.keys());
  return parts.slice(last, -1).every(({ then }) => then === '|');
}
