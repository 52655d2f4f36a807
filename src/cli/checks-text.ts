// Pure: the brief and the checks of a task as a person reads them in a terminal. What an agent or a command wrote is quoted or on one line.
import { oneLine, quotedLines, shownLine } from '../base/text.js';
import { BridgeError } from '../base/errors.js';
import { briefText, checksSchema, type Check } from '../checks/brief.js';
import {
  metWords,
  notesOf,
  resultWords,
  shownRun,
  type CheckRun,
  type Verification,
} from '../checks/result.js';
import type { TaskRecord } from '../tasks/task.js';

const MAX_NAME_CHARS = 60;

/** What the task was given, and what came of its checks; nothing where it has neither. */
export function checkedLines({ brief, checked }: Pick<TaskRecord, 'brief' | 'checked'>): string[] {
  return [
    ...(brief === undefined ? [] : ['', 'brief:', quotedLines(briefText(brief))]),
    ...(checked === undefined ? [] : ['', ...runLines(checked)]),
  ];
}

/** What came of the checks in a clean copy. */
export function verificationText(found: Verification): string {
  const { tests_changed: patch } = found;
  const changed =
    patch === undefined ? [] : ['Test files that were there before are changed:', quotedLines(patch)];
  return `${[...runLines(found), ...changed].join('\n')}\n`;
}

function runLines(run: CheckRun): string[] {
  const results = shownRun(run).results.flatMap((one) => [
    `  ${shownLine(resultWords(one))}`,
    ...(one.output ? [quotedLines(one.output)] : []),
    ...(one.output_file === undefined ? [] : [`  all of its output: ${shownLine(one.output_file)}`]),
  ]);
  return [`checks: ${metWords(run)}`, ...results, ...notesOf(run).map((note) => `  ${shownLine(note)}`)];
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
