// Pure: what came of the checks of a task. A verdict is an exit code, never words.
import { z } from 'zod';
import { countedNoun, oneLine, someNames, tailLines } from '../base/text.js';
import type { Check } from './brief.js';

/** `not run`: nothing is known. */
const verdictSchema = z.enum(['met', 'not met', 'not run']);
const SHOWN_CHARS = 300;
const SHORT_HASH = 10;
/** Of the output of one check, for a reader; its file has all of it. */
const MAX_OUTPUT_CHARS = 2_000;
const NOT_YET = 'the agent has not said that its work is done';

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
  /** All of what it printed, as far as it was kept. */
  output_file: z.string().optional(),
  /** Files that are changed since the check began, relative to the project. */
  left_changed: z.array(z.string()).optional(),
});
export type CheckResult = z.infer<typeof checkResultSchema>;

/** The checks of a task after one of its turns, or in a clean copy. */
export const checkRunSchema = z.object({
  results: z.array(checkResultSchema),
  /** How often what was not met went back to the session. */
  rounds: z.int().default(0),
  /** Of the checks, files that the task changed or removed, relative to the project. */
  own_files_changed: z.array(z.string()).optional(),
  /** The files that were checked, as a tree of git; left out where that is not known. */
  tree: z.string().optional(),
  /** Ignored folders of the project that a worktree or a copy had as links meanwhile. */
  linked: z.array(z.string()).optional(),
  /** Why nothing goes back to the session any more, though not all are met. */
  stopped: z.string().optional(),
});
export type CheckRun = z.infer<typeof checkRunSchema>;
type Results = Pick<CheckRun, 'results'>;

/** A test file, or a whole check, on the new code and on the code as it was before the task. */
export const testVerdictSchema = z.object({
  check: z.string(),
  file: z.string().optional(),
  /** It was there before under another name. */
  moved: z.literal(true).optional(),
  /** The whole check, which names no tests: that it passed before is no alarm. */
  whole: z.literal(true).optional(),
  after: verdictSchema,
  before: verdictSchema,
  /** Left out where that is not known. False is the alarm: the test says nothing about the work. */
  red_before: z.boolean().optional(),
});
export type TestVerdict = z.infer<typeof testVerdictSchema>;

/** What came of the checks in a clean copy. */
export interface Verification extends CheckRun {
  readonly tests: TestVerdict[];
  /** The patch of test files that were there before and are changed, moved or removed. */
  readonly tests_changed?: string | undefined;
  /** Changed files that the brief does not name. */
  readonly outside_brief?: string[] | undefined;
  readonly notes: readonly string[];
}

/** Results of checks that did not run. */
export function notRun(checks: readonly Check[], why: string): CheckResult[] {
  return checks.map(({ name, command }) => ({ name, command, verdict: 'not run', why }));
}

/** While the agent works. */
export function unknownYet(checks: readonly Check[], rounds = 0): CheckRun {
  return { rounds, results: notRun(checks, NOT_YET) };
}

/** True while nothing has run. */
export function isNotYet({ results }: Results): boolean {
  return results.every(({ why }) => why === NOT_YET);
}

export function isMet({ results }: Results): boolean {
  return results.every(({ verdict }) => verdict === 'met');
}

/** What the checks say of the files of this tree: those that were met on others, or on files that are not known, did not run on it. */
export function onTree(run: CheckRun, tree: string | undefined): CheckRun {
  const { tree: checked, results } = run;
  if (tree === undefined || checked === tree) return run;
  const on = checked === undefined ? 'which is not known' : `tree ${checked.slice(0, SHORT_HASH)}`;
  const why = `it was met on another state (${on}) than the one that comes in (${tree.slice(0, SHORT_HASH)})`;
  return {
    ...run,
    results: results.map((one) => (one.verdict === 'met' ? { ...one, verdict: 'not run', why } : one)),
  };
}

/** Whether two runs failed the same way: each check has the same verdict and exit code. Outputs differ by times alone. */
export function isSameFailure(one: CheckRun, other: CheckRun): boolean {
  const key = ({ results }: CheckRun): string =>
    JSON.stringify(results.map(({ name, verdict, exit_code }) => [name, verdict, exit_code]));
  return key(one) === key(other);
}

/** As in "5 of 6 checks met"; empty without checks. */
export function metWords(run: Results | undefined): string {
  const { results = [] } = run ?? {};
  const met = results.filter(({ verdict }) => verdict === 'met').length;
  const all = countedNoun(results.length, 'check');
  return results.length === 0 ? '' : `${met === results.length ? '' : `${met} of `}${all} met`;
}

/** One line: the verdict, and what is known of it. */
export function resultWords({ name, verdict, why }: CheckResult): string {
  return `${name}: ${verdict}${why === undefined ? '' : `, ${oneLine(why, SHOWN_CHARS)}`}`;
}

/** As in "5 of 6 checks met: lint: not met, exit code 1"; undefined where all are met. */
export function unmetWords(run: Results | undefined): string | undefined {
  if (run === undefined || isMet(run)) return undefined;
  return `${metWords(run)}: ${unmetOf(run).map(resultWords).join('; ')}`;
}

/** For the message of a merge: "Checks not met: lint (exit code 1)". */
export function unmetParagraph(run: Results): string {
  const words = ({ name, verdict, why = '' }: CheckResult): string =>
    `${name} (${verdict === 'not run' ? 'not run: ' : ''}${oneLine(why, SHOWN_CHARS)})`;
  return `Checks not met: ${unmetOf(run).map(words).join(', ')}`;
}

function unmetOf({ results }: Results): readonly CheckResult[] {
  return results.filter(({ verdict }) => verdict !== 'met');
}

/** What a session is sent when checks are not met; one that did not run is no fault of its work. */
export function unmetMessage({ results }: Results): string {
  const unmet = results.filter(({ verdict }) => verdict === 'not met');
  const parts = unmet.map(
    ({ name, command, why = '', output = '' }) => `${name}: ${why}.\n\n$ ${command}\n${output.trimEnd()}`,
  );
  return `${countedNoun(unmet.length, 'check')} not met after your last turn.\n\n${parts.join('\n\n')}`;
}

/** What a reader gets of the checks: of those that are not met the last lines, all together at most `chars`. */
export function shownRun(run: CheckRun, chars = Infinity) {
  const share = Math.min(MAX_OUTPUT_CHARS, Math.floor(chars / Math.max(1, unmetOf(run).length)));
  const results = run.results.map(({ output, output_file, ...one }): CheckResult => {
    if (one.verdict === 'met' || output_file === undefined) return one;
    return { ...one, output: tailLines(output ?? '', share), output_file };
  });
  return { summary: metWords(run), ...run, results };
}

/** Sentences about a run beside its results: what people should know of it. */
export function notesOf(run: CheckRun & Partial<Verification>): string[] {
  const { results, own_files_changed = [], stopped, linked = [], tests = [], outside_brief = [] } = run;
  const kind = ({ red_before, whole, moved }: TestVerdict): string | undefined => {
    if (red_before !== false) return red_before === true ? 'red' : undefined;
    return whole === true ? undefined : moved === true ? 'moved' : 'alarm';
  };
  const testsOf = (wanted: string): string[] =>
    tests.filter((one) => kind(one) === wanted).map(({ check, file = check }) => file);
  const named: readonly (readonly [string, readonly string[]])[] = [
    ...results.map(({ name, left_changed = [] }) => [`${name} left changed`, left_changed] as const),
    ['Linked from the project meanwhile', linked],
    ['The task changed files of its checks', own_files_changed],
    ['Failed before, and pass now', testsOf('red')],
    ['Alarm: on the old code these pass, too', testsOf('alarm')],
    ['Moved, and pass before, too', testsOf('moved')],
    ['Changed, and not named by the brief', outside_brief],
  ];
  return [
    ...named.flatMap(([words, names]) => (names.length === 0 ? [] : [`${words}: ${someNames(names)}.`])),
    ...(stopped === undefined ? [] : [`Nothing went back to the session any more: ${stopped}.`]),
    ...(run.notes ?? []),
  ];
}
