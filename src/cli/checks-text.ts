// Pure: the brief and the checks of a task as a person reads them in a terminal. What an agent or a command wrote is quoted or on one line.
import { oneLine, quotedLines, someNames, tailLines } from '../base/text.js';
import { BridgeError } from '../base/errors.js';
import { briefText, checksSchema, type Check } from '../checks/brief.js';
import {
  alarms,
  metWords,
  resultWords,
  runNotes,
  type CheckResult,
  type Verification,
} from '../checks/result.js';
import type { TaskRecord } from '../tasks/task.js';

/** Of the output of a check that is not met; its file has all of it. */
const MAX_OUTPUT_CHARS = 1_500;
const MAX_NAME_CHARS = 60;

/** What the task was given, and what came of its checks; nothing where it has neither. */
export function checkedLines({ brief, checked }: Pick<TaskRecord, 'brief' | 'checked'>): string[] {
  return [
    ...(brief === undefined ? [] : ['', 'brief:', quotedLines(briefText(brief))]),
    ...resultLines(checked?.results ?? []),
    ...(checked === undefined ? [] : runNotes(checked).map((note) => `  ${note}`)),
  ];
}

/** What came of the checks in a clean copy. */
export function verificationText({
  results,
  tests,
  notes,
  tests_changed: patch,
  outside_brief: outside = [],
}: Verification): string {
  const changed =
    patch === undefined ? [] : ['Test files that were there before are changed:', quotedLines(patch)];
  const named = outside.length > 0 ? [`Changed, and not named by the brief: ${someNames(outside)}.`] : [];
  return `${[...resultLines(results).slice(1), ...alarms(tests), ...named, ...notes, ...changed].join('\n')}\n`;
}

function resultLines(results: readonly CheckResult[]): string[] {
  if (results.length === 0) return [];
  return ['', `checks: ${metWords({ results })}`, ...results.flatMap(oneResult)];
}

function oneResult(result: CheckResult): string[] {
  const { verdict, output = '', output_file, left_changed: left = [] } = result;
  const shown = verdict === 'met' ? '' : tailLines(output, MAX_OUTPUT_CHARS);
  return [
    `  ${resultWords(result)}`,
    ...(shown === '' ? [] : [quotedLines(shown)]),
    ...(verdict === 'met' || output_file === undefined ? [] : [`  all of its output: ${output_file}`]),
    ...(left.length > 0 ? [`  it left changed: ${someNames(left)}`] : []),
  ];
}

/** The checks of a command line, each `name: command` with a name of one word, or a command alone. Throws INVALID_ARGUMENTS. */
export function checksOf(given: readonly string[]): readonly Check[] {
  const checks = given.map((text) => {
    const [, name, command] = /^([^\s:]+): +(.+)$/s.exec(text.trim()) ?? [];
    return { name: name ?? oneLine(text, MAX_NAME_CHARS), command: command ?? text };
  });
  const parsed = checksSchema.safeParse(checks);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new BridgeError('INVALID_ARGUMENTS', `--check needs ${issue?.message ?? 'a command'}.`, [
    'Give each as "name: command" or as a command, ten at most.',
  ]);
}
