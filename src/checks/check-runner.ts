import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import ignore from 'ignore';
import type { Clock } from '../base/clock.js';
import type { Check } from './brief.js';
import type { CheckResult } from './result.js';
import { runCommand, type CommandEnd } from './run-command.js';

/** How a POSIX shell exits for a command that it does not find, or may not run (POSIX, 2.8.2). */
const NOT_FOUND = 127;
const NOT_RUNNABLE = 126;
/** Files that are named. */
const MAX_FILES = 50;
const OWNER_ONLY = 0o700;

/** The files of a project as trees of git; undefined where there is no repository, or it could not be read. */
export interface ProjectTrees {
  now(signal: AbortSignal): Promise<string | undefined>;
  /** Files that are different, relative to the project; `isOld`: that were there before. */
  changed(from: string, to: string, signal: AbortSignal, isOld?: boolean): Promise<readonly string[]>;
}

export interface CheckRunnerOptions {
  readonly shell: string;
  /** Where the commands run. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly mark: string;
  readonly startedSince: string | undefined;
  /** Outputs are kept here: made when it is first needed. */
  readonly outputFolder: string;
  readonly trees: ProjectTrees;
  readonly clock: Clock;
}

/** What came of all checks, and of the folder meanwhile. */
export interface CheckedFolder {
  readonly results: readonly CheckResult[];
  /** Of the folder before the first check. */
  readonly tree: string | undefined;
}

/** Runs checks one after the other. `onBegin` gets each before it runs, and `onEnd` what came of it. */
export async function runChecks(
  checks: readonly Check[],
  options: CheckRunnerOptions,
  signal: AbortSignal,
  { onBegin, onEnd }: { onBegin?: (check: Check) => void; onEnd?: (result: CheckResult) => void } = {},
): Promise<CheckedFolder> {
  const { trees, outputFolder } = options;
  await mkdir(outputFolder, { recursive: true, mode: OWNER_ONLY });
  const first = await trees.now(signal);
  const results: CheckResult[] = [];
  let before = first;
  for (const [at, check] of checks.entries()) {
    onBegin?.(check);
    const outputFile = join(outputFolder, `${at + 1}.txt`);
    const result = await runCheck(check, { ...options, outputFile }, signal);
    const after = result.verdict === 'not run' ? before : await trees.now(signal);
    const changed =
      before === undefined || after === undefined || before === after
        ? []
        : await trees.changed(before, after, signal);
    const whole = changed.length === 0 ? result : { ...result, left_changed: changed.slice(0, MAX_FILES) };
    results.push(whole);
    onEnd?.(whole);
    before = after;
  }
  return { results, tree: first };
}

async function runCheck(
  { name, command, timeout_seconds }: Check,
  options: CheckRunnerOptions & { readonly outputFile: string },
  signal: AbortSignal,
): Promise<CheckResult> {
  if (signal.aborted) return { name, command, verdict: 'not run', why: 'the checks were stopped before it' };
  const { folder: cwd, outputFile } = options;
  if (!existsSync(cwd))
    return { name, command, verdict: 'not run', why: `the folder ${cwd} is no longer there` };
  const end = await runCommand({ ...options, command, cwd, limitMs: timeout_seconds * 1_000, signal });
  const { code, seconds, output, outputBytes } = end;
  return {
    name,
    command,
    ...verdictOf(end, timeout_seconds),
    ...(code !== undefined && { exit_code: code }),
    seconds: Math.round(seconds * 1_000) / 1_000,
    output,
    output_bytes: outputBytes,
    output_file: outputFile,
  };
}

/** The verdict of a command line by the way it ended, and why it is not met. */
export function verdictOf(
  { how, code, signal }: Pick<CommandEnd, 'how' | 'code' | 'signal'>,
  limitSeconds: number,
): Pick<CheckResult, 'verdict' | 'why'> {
  if (typeof how === 'object') return { verdict: 'not run', why: `it could not be started: ${how.failed}` };
  if (how === 'stopped') return { verdict: 'not run', why: 'it was stopped before its end' };
  if (how === 'limit')
    return { verdict: 'not met', why: `it ran longer than ${limitSeconds} s and was ended` };
  if (code === 0) return { verdict: 'met' };
  if (code === NOT_FOUND)
    return { verdict: 'not run', why: 'the shell did not find the command (exit code 127)' };
  if (code === NOT_RUNNABLE)
    return { verdict: 'not run', why: 'the shell may not run the command (exit code 126)' };
  return {
    verdict: 'not met',
    why: code === undefined ? `the signal ${signal ?? 'unknown'} ended it` : `exit code ${code}`,
  };
}

/** Those of the files that a check's `tests` match. */
export function testFiles({ tests = [] }: Pick<Check, 'tests'>, files: readonly string[]): string[] {
  return matching(tests, files);
}

/** Those of the files that one of the patterns matches, as a .gitignore would. */
export function matching(patterns: readonly string[] = [], files: readonly string[]): string[] {
  if (patterns.length === 0) return [];
  const rules = ignore().add([...patterns]);
  return files.filter((file) => rules.ignores(file));
}
