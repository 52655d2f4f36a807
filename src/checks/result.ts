// Pure: what came of the checks of a task. A verdict is an exit code, never words.
import { z } from 'zod';
import type { Check } from './brief.js';
import { countedNoun, oneLine, someNames, tailBytes } from '../base/text.js';

/** `not run`: nothing is known. */
const verdictSchema = z.enum(['met', 'not met', 'not run']);
const SHOWN_CHARS = 300;
const SHORT_HASH = 10;

/** What came of one check. */
export const checkResultSchema = z.object({
  name: z.string(),
  command: z.string(),
  verdict: verdictSchema,
  /** In words: why it is not met or was not run. */
  why: z.string().optional(),
  exit_code: z.int().optional(),
  seconds: z.number().optional(),
  /** The first and the last bytes of what it printed. */
  output: z.string().optional(),
  output_bytes: z.int().optional(),
  /** All of what it printed, as far as it was kept. */
  output_file: z.string().optional(),
  /** Files that are changed since the check began, relative to the project. */
  left_changed: z.array(z.string()).optional(),
});
export type CheckResult = z.infer<typeof checkResultSchema>;

/** The checks of a task after one of its turns. */
export const checkRunSchema = z.object({
  results: z.array(checkResultSchema),
  /** How often what was not met went back to the session. */
  rounds: z.int().default(0),
  /** Of the checks, files that the task changed or removed, relative to the project. */
  own_files_changed: z.array(z.string()).optional(),
  /** The files that were checked, as a tree of git; left out where that is not known. */
  tree: z.string().optional(),
  /** Ignored folders of the project that a worktree had as links meanwhile. */
  linked: z.array(z.string()).optional(),
  /** Why nothing goes back to the session any more, though not all are met. */
  stopped: z.string().optional(),
});
export type CheckRun = z.infer<typeof checkRunSchema>;

/** A test file, or a whole check, on the new code and on the code as it was before the task. */
export const testVerdictSchema = z.object({
  check: z.string(),
  file: z.string().optional(),
  /** It was there before under another name. */
  moved: z.literal(true).optional(),
  /** The whole check, which names no tests: that it passed before is no alarm. */
  whole: z.boolean().optional(),
  after: verdictSchema,
  before: verdictSchema,
  /** Left out where that is not known. False is the alarm: the test says nothing about the work. */
  red_before: z.boolean().optional(),
});
export type TestVerdict = z.infer<typeof testVerdictSchema>;

/** What came of the checks in a clean copy. */
export interface Verification {
  readonly results: readonly CheckResult[];
  readonly tests: readonly TestVerdict[];
  /** The patch of test files that were there before and are changed, moved or removed. */
  readonly tests_changed?: string;
  /** Changed files that the brief does not name. */
  readonly outside_brief?: readonly string[];
  /** Ignored folders of the project that the copies link. */
  readonly linked: readonly string[];
  readonly notes: readonly string[];
}

const NOT_YET = 'the agent has not said that its work is done';

/** Results of checks of which nothing is known yet. */
export function unknownYet(checks: readonly Check[], rounds = 0, why = NOT_YET): CheckRun {
  return { rounds, results: checks.map(({ name, command }) => ({ name, command, verdict: 'not run', why })) };
}

/** True while nothing has run. */
export function isNotYet({ results }: CheckRun): boolean {
  return results.every(({ why }) => why === NOT_YET);
}

export function isMet({ results }: { readonly results: readonly CheckResult[] }): boolean {
  return results.every(({ verdict }) => verdict === 'met');
}

/** What the checks say of the files of this tree: those that were met on others, or on files that are not known, did not run on it. */
export function onTree(run: CheckRun, tree: string | undefined): CheckRun {
  const { tree: checked, results } = run;
  if (tree === undefined || checked === tree) return run;
  const on = checked === undefined ? 'which is not known' : `tree ${checked.slice(0, SHORT_HASH)}`;
  const why = `it was met on another state (${on}) than the one that comes in (${tree.slice(0, SHORT_HASH)})`;
  const elsewhere = (one: CheckResult): CheckResult =>
    one.verdict === 'met' ? { ...one, verdict: 'not run', why } : one;
  return { ...run, results: results.map(elsewhere) };
}

/** As in "5 of 6 checks met"; empty without checks. */
export function metWords({ results }: { readonly results: readonly CheckResult[] }): string {
  if (results.length === 0) return '';
  const met = results.filter(({ verdict }) => verdict === 'met').length;
  return met === results.length
    ? `${countedNoun(met, 'check')} met`
    : `${met} of ${countedNoun(results.length, 'check')} met`;
}

/** One line: the verdict, and what is known of it. */
export function resultWords({ name, verdict, why }: CheckResult): string {
  return `${name}: ${verdict}${why === undefined ? '' : `, ${oneLine(why, SHOWN_CHARS)}`}`;
}

/** As in "5 of 6 checks met: lint: not met, exit code 1"; undefined where all are met. */
export function unmetWords(checked: CheckRun | undefined): string | undefined {
  if (checked === undefined || isMet(checked)) return undefined;
  const unmet = checked.results.filter(({ verdict }) => verdict !== 'met');
  return `${metWords(checked)}: ${unmet.map(resultWords).join('; ')}`;
}

/** Sentences about a run, beside its results. */
export function runNotes({ own_files_changed: own = [], stopped, linked = [] }: CheckRun): string[] {
  return [
    ...(linked.length > 0 ? [`Linked into the worktree meanwhile: ${someNames(linked)}.`] : []),
    ...(own.length > 0 ? [`The task changed files of its checks: ${someNames(own)}.`] : []),
    ...(stopped === undefined ? [] : [`Nothing went back to the session any more: ${stopped}.`]),
  ];
}

/** For the message of a merge: "Checks not met: lint (exit code 1)". */
export function unmetParagraph({ results }: CheckRun): string {
  const unmet = results.filter(({ verdict }) => verdict !== 'met');
  const words = unmet.map(({ name, verdict, why = '' }) => {
    const shown = oneLine(why, SHOWN_CHARS);
    return `${name} (${verdict === 'not run' ? `not run: ${shown}` : shown})`;
  });
  return `Checks not met: ${words.join(', ')}`;
}

/** What a session is sent when checks are not met; one that did not run is no fault of its work. */
export function unmetMessage(run: CheckRun): string {
  const unmet = run.results.filter(({ verdict }) => verdict === 'not met');
  const parts = unmet.map(
    ({ name, command, why = '', output = '' }) => `${name}: ${why}.\n\n$ ${command}\n${output.trimEnd()}`,
  );
  return `${countedNoun(unmet.length, 'check')} not met after your last turn.\n\n${parts.join('\n\n')}`;
}

/** Whether two runs failed the same way: each check has the same verdict and exit code. Outputs differ by times alone. */
export function isSameFailure(one: CheckRun, other: CheckRun): boolean {
  const key = ({ results }: CheckRun): string =>
    JSON.stringify(results.map(({ name, verdict, exit_code }) => [name, verdict, exit_code]));
  return key(one) === key(other);
}

/** Of an output, for a reader who sees all checks at once. */
const MAX_SHOWN_BYTES = 1_500;

/** What a caller reads of the checks: the output of those that are not met, cut. `bytes`: for all outputs together. */
export function checksView(
  { results, own_files_changed: own, stopped, rounds, linked }: CheckRun,
  bytes: number,
) {
  const unmet = results.filter(({ verdict }) => verdict === 'not met').length;
  const share = Math.min(MAX_SHOWN_BYTES, Math.floor(bytes / Math.max(1, unmet)));
  return {
    summary: metWords({ results }),
    ...(rounds > 0 && { rounds }),
    ...(stopped !== undefined && { stopped }),
    ...(own !== undefined && { own_files_changed: own }),
    ...(linked !== undefined && { linked }),
    results: results.map(({ name, verdict, why, command, output = '', output_file, left_changed }) => ({
      name,
      verdict,
      ...(why !== undefined && { why }),
      ...(verdict === 'not met' && { command, output: tailBytes(output, share), output_file }),
      ...(left_changed !== undefined && { left_changed }),
    })),
  };
}

/** Sentences about tests that say nothing of the work: they pass on the code as it was before it. */
export function alarms(tests: readonly TestVerdict[]): string[] {
  const green = tests.filter(({ red_before, whole }) => red_before === false && whole !== true);
  const red = tests.filter(({ red_before }) => red_before === true);
  const name = ({ check, file }: TestVerdict): string => file ?? check;
  const moved = green.filter((one) => one.moved === true).map(name);
  const hollow = green.filter((one) => one.moved !== true).map(name);
  return [
    ...(red.length > 0 ? [`Failed before, and pass now: ${someNames(red.map(name))}.`] : []),
    ...(hollow.length > 0 ? [`Alarm: on the old code these pass, too: ${someNames(hollow)}.`] : []),
    ...(moved.length > 0 ? [`Moved, and pass before, too: ${someNames(moved)}.`] : []),
  ];
}
