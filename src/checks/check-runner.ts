import { existsSync } from 'node:fs';
import { mkdir, readlink, realpath, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import ignore from 'ignore';
import { ignoreMissing, ignoreSystemError } from '../base/errors.js';
import type { Check } from './brief.js';
import { notRun, type CheckResult } from './result.js';
import type { RunLine } from './run-command.js';

/** Files that are named. */
const MAX_FILES = 50;
const OWNER_ONLY = 0o700;

export interface CheckRunnerOptions {
  readonly run: RunLine;
  /** Where the commands run. */
  readonly folder: string;
  /** Outputs are kept here: made when it is first needed. */
  readonly outputFolder: string;
  /** Files of the project, relative to it, that are different since the call before. */
  readonly changed?: () => Promise<readonly string[]>;
}

/** Runs checks one after the other. `onBegin` gets each before it runs, and `onEnd` what came of it. */
export async function runChecks(
  checks: readonly Check[],
  options: CheckRunnerOptions,
  signal: AbortSignal,
  { onBegin, onEnd }: { onBegin?: (check: Check) => void; onEnd?: (result: CheckResult) => void } = {},
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const [at, check] of checks.entries()) {
    onBegin?.(check);
    const result = await runCheck(check, options, `${at + 1}.txt`, signal);
    const changed = (result.verdict !== 'not run' && (await options.changed?.())) || [];
    results.push(changed.length > 0 ? { ...result, left_changed: changed.slice(0, MAX_FILES) } : result);
    onEnd?.(results[at] ?? result);
  }
  return results;
}

/** Runs one check. Its output is in a file of this name. */
export async function runCheck(
  check: Check,
  { run, folder, outputFolder }: CheckRunnerOptions,
  fileName: string,
  signal: AbortSignal,
): Promise<CheckResult> {
  const { name, command, timeout_seconds: limitSeconds } = check;
  const why = signal.aborted
    ? 'the checks were stopped before it'
    : existsSync(folder)
      ? undefined
      : `the folder ${folder} is no longer there`;
  const [skipped] = why === undefined ? [] : notRun([check], why);
  if (skipped !== undefined) return skipped;
  await mkdir(outputFolder, { recursive: true, mode: OWNER_ONLY });
  const outputFile = join(outputFolder, fileName);
  return { name, command, ...(await run({ command, cwd: folder, limitSeconds, signal, outputFile })) };
}

/**
 * Links folders `names` of one folder into another that does not have them, never behind a link of that one; what was linked, and how the
 * links are removed.
 */
export async function linkFolders(names: readonly string[], from: string, to: string) {
  const linked: string[] = [];
  for (const name of names) {
    const place = join(to, name);
    if ((await realpath(dirname(place)).catch(ignoreMissing)) !== dirname(place)) continue;
    // Something may have its name there, or that of a folder above it.
    await symlink(join(from, name), place).then(() => linked.push(name), ignoreSystemError);
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

/** Says of a file whether one of the patterns matches it, as in a .gitignore. */
export function matcher(patterns: readonly string[] = []): (file: string | undefined) => boolean {
  const rules = ignore().add([...patterns]);
  return (file) => file !== undefined && rules.ignores(file);
}
