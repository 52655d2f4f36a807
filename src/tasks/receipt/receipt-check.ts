// Pure.
import { isAbsolute, resolve } from 'node:path';
import { claimsOf, type Claim } from './receipt-claims.js';
import type { GitReport, TestRun, Unverified } from './receipt.js';

const MAX_UNVERIFIED = 50;
/** Files of which the disk is asked: a message that names more is a listing. */
const MAX_LOOKS = 100;

/** What was seen, as far as claims are compared with it. */
export interface Observed {
  readonly projectPath: string;
  /** Absolute paths of files that tools wrote. */
  readonly written: readonly string[];
  readonly commands: readonly string[];
  readonly tests: readonly TestRun[];
  readonly git: GitReport;
  /** When the file was changed last, in milliseconds since the epoch; undefined when it is not there. */
  readonly changedMs: (path: string) => Promise<number | undefined>;
  /** Whether the repository has a commit of that name. */
  readonly hasCommit: (name: string) => Promise<boolean>;
  /** The start of the task, in milliseconds since the epoch. */
  readonly sinceMs: number;
}

/** Claims of the final message that match nothing observed, each with why. */
export async function unverifiedClaims(message: string, observed: Observed): Promise<Unverified[]> {
  const unverified: Unverified[] = [];
  let looks = 0;
  for (const claim of claimsOf(message)) {
    if (unverified.length >= MAX_UNVERIFIED) break;
    if (claim.about !== 'tests' && looks++ >= MAX_LOOKS) continue;
    const why = await doubt(claim, observed);
    if (why !== undefined) unverified.push({ about: claim.about, claim: claim.sentence, why });
  }
  return unverified;
}

function doubt(claim: Claim, observed: Observed): Promise<string | undefined> | string | undefined {
  switch (claim.about) {
    case 'file':
      return fileDoubt(claim, observed);
    case 'commit':
      return commitDoubt(claim, observed);
    case 'tests':
      return testsDoubt(claim, observed);
  }
}

async function fileDoubt(
  { path, done }: Extract<Claim, { about: 'file' }>,
  observed: Observed,
): Promise<string | undefined> {
  const { git, written, projectPath, sinceMs, commands } = observed;
  const absolute = isAbsolute(path) ? path : resolve(projectPath, path);
  const isIt = (seen: string): boolean =>
    seen === absolute || (!isAbsolute(path) && seen.endsWith(`/${path}`));
  const seenByGit =
    git.state === 'repository' ? git.files.filter((file) => isIt(resolve(git.repository, file.path))) : [];
  const changedMs = await observed.changedMs(absolute);
  if (done === 'deleted') {
    if (seenByGit.some((file) => file.change === 'deleted')) return undefined;
    if (changedMs !== undefined) {
      // "Removed the old check from a.ts" speaks of a change.
      const wasTouched = seenByGit.length > 0 || written.some(isIt) || changedMs >= sinceMs;
      return wasTouched ? undefined : `${path} is there, and nothing was seen to change it`;
    }
    const name = path.slice(path.lastIndexOf('/') + 1);
    return commands.some((command) => command.includes(name))
      ? undefined
      : `${path} is not there, and nothing was seen to remove it`;
  }
  if (seenByGit.length > 0 || written.some(isIt)) return undefined;
  if (done === 'named') {
    // A bare name may lie in any folder.
    const canTell = path.includes('/') && (!isAbsolute(path) || path.startsWith(`${projectPath}/`));
    return canTell && changedMs === undefined
      ? `${path} is not there, and nothing was seen to touch it`
      : undefined;
  }
  if (changedMs !== undefined && changedMs >= sinceMs) return undefined;
  return changedMs === undefined
    ? `${path} is not there, and nothing was seen to write it`
    : `${path} was not changed during the task`;
}

async function commitDoubt(
  { name, made }: Extract<Claim, { about: 'commit' }>,
  { git, hasCommit }: Observed,
): Promise<string | undefined> {
  if (git.state === 'none') return 'the project is in no repository';
  if (git.state === 'unknown') return 'the repository could not be looked at';
  if (name === undefined) return git.commits_total > 0 ? undefined : 'no commit was made during the task';
  if (git.commits.some(({ commit }) => commit.startsWith(name))) return undefined;
  if (!(await hasCommit(name))) return `the repository has no commit ${name}`;
  return made && git.commits_total <= git.commits.length
    ? `commit ${name} is there, and was not made during the task`
    : undefined;
}

function testsDoubt({ count }: Extract<Claim, { about: 'tests' }>, { tests }: Observed): string | undefined {
  const last = tests.at(-1);
  if (last === undefined) return 'no test run was seen';
  if (last.verdict === 'failed') return `the last test run that was seen (${last.runner}) failed`;
  if (last.verdict === 'unknown') {
    return last.passed === undefined
      ? `the last test run that was seen (${last.runner}) may not have run any test, or hid its exit code, and no counts of it are known`
      : `the last test run that was seen (${last.runner}) passed no test`;
  }
  if (count === undefined) return undefined;
  const counted = tests.filter((run) => run.passed !== undefined);
  if (counted.length === 0) return `no counts are known of the test run that was seen (${last.runner})`;
  const all = counted.reduce((sum, run) => sum + (run.passed ?? 0), 0);
  const fits = all === count || counted.some((run) => run.passed === count || totalOf(run) === count);
  return fits
    ? undefined
    : `the test runs that were seen passed ${counted.map((run) => run.passed).join(', ')} tests, not ${count}`;
}

function totalOf(run: TestRun): number {
  return (run.passed ?? 0) + (run.failed ?? 0) + (run.skipped ?? 0);
}
