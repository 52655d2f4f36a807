import { existsSync } from 'node:fs';
import { mkdir, readlink, realpath, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import ignore from 'ignore';
import { ignoreMissing, ignoreSystemError, systemCodeOf } from '../base/errors.js';
import type { Check } from './brief.js';
import type { CheckResult } from './result.js';
import type { CommandEnd, RunLine } from './run-command.js';

/** How a POSIX shell exits for a command that it does not find, or may not run (POSIX, 2.8.2). */
const NOT_FOUND = 127;
const NOT_RUNNABLE = 126;
/** Files that are named. */
const MAX_FILES = 50;
const OWNER_ONLY = 0o700;

/** The files of a project as trees of git; undefined where there is no repository, or it could not be read. */
export interface ProjectTrees {
  now(signal: AbortSignal): Promise<string | undefined>;
  /** Files that are different, relative to the project. */
  changed(from: string, to: string, signal: AbortSignal): Promise<readonly string[]>;
}

export interface CheckRunnerOptions {
  readonly run: RunLine;
  /** Where the commands run. */
  readonly folder: string;
  /** Outputs are kept here: made when it is first needed. */
  readonly outputFolder: string;
  readonly trees?: ProjectTrees | undefined;
}

/** Runs checks one after the other. `onBegin` gets each before it runs, and `onEnd` what came of it. */
export async function runChecks(
  checks: readonly Check[],
  options: CheckRunnerOptions,
  signal: AbortSignal,
  { onBegin, onEnd }: { onBegin?: (check: Check) => void; onEnd?: (result: CheckResult) => void } = {},
): Promise<CheckResult[]> {
  const { trees, outputFolder } = options;
  await mkdir(outputFolder, { recursive: true, mode: OWNER_ONLY });
  const results: CheckResult[] = [];
  let before = await trees?.now(signal);
  for (const [at, check] of checks.entries()) {
    onBegin?.(check);
    const result = await runCheck(check, options, join(outputFolder, `${at + 1}.txt`), signal);
    const after = result.verdict === 'not run' ? before : await trees?.now(signal);
    const changed =
      before === undefined || after === undefined || before === after
        ? []
        : ((await trees?.changed(before, after, signal)) ?? []);
    const whole = changed.length === 0 ? result : { ...result, left_changed: changed.slice(0, MAX_FILES) };
    results.push(whole);
    onEnd?.(whole);
    before = after;
  }
  return results;
}

async function runCheck(
  { name, command, timeout_seconds }: Check,
  { run, folder: cwd }: CheckRunnerOptions,
  outputFile: string,
  signal: AbortSignal,
): Promise<CheckResult> {
  if (signal.aborted) return { name, command, verdict: 'not run', why: 'the checks were stopped before it' };
  if (!existsSync(cwd))
    return { name, command, verdict: 'not run', why: `the folder ${cwd} is no longer there` };
  const end = await run({ command, cwd, limitMs: timeout_seconds * 1_000, signal, outputFile });
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
function verdictOf(
  { how, code, signal }: Pick<CommandEnd, 'how' | 'code' | 'signal'>,
  limitSeconds: number,
): Pick<CheckResult, 'verdict' | 'why'> {
  if (typeof how === 'object') return { verdict: 'not run', why: how.failed };
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

/**
 * Links folders `names` of one folder into another that does not have them, never behind a link of that one; what was linked, and how the
 * links are removed.
 */
export async function linkFolders(names: readonly string[], from: string, to: string) {
  const linked: string[] = [];
  for (const name of names) {
    const place = join(to, name);
    const real = await realpath(dirname(place)).catch(ignoreMissing);
    if (real !== dirname(place)) continue;
    const made = await symlink(join(from, name), place).then(
      () => true,
      (error: unknown) => {
        // Something has its name there, or that of a folder above it.
        if (!['EEXIST', 'ENOTDIR'].includes(systemCodeOf(error) ?? '')) throw error;
        return false;
      },
    );
    if (made) linked.push(name);
  }
  const unlink = async (): Promise<void> => {
    // A command may have put something else there, or in place of a folder above it.
    for (const name of linked) {
      const target = await readlink(join(to, name)).catch(ignoreSystemError);
      if (target === join(from, name)) await rm(join(to, name), { force: true });
    }
  };
  return { linked, unlink };
}

/** Those of the files that one of the patterns matches, as a .gitignore would. */
export function matching(patterns: readonly string[] = [], files: readonly string[]): string[] {
  if (patterns.length === 0) return [];
  const rules = ignore().add([...patterns]);
  return files.filter((file) => rules.ignores(file));
}
