import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { farIdOf } from '../base/ids.js';
import { systemClock } from '../base/system-clock.js';
import { oneLine, shownCharacters, shownLine } from '../base/text.js';
import { isNativeOn } from '../native/native-switch.js';
import { isFinal } from '../tasks/task.js';
import { addCommand, addDefaultList, type CommandContext } from './command.js';
import { exitCodeOfEnd, exitCodes, type ExitCode } from './exit-codes.js';
import { showLog } from './follow.js';
import { groupOf, ID_WORDS, type Group, type Room } from './open-tasks.js';
import { addActs, addAnswer, addVerify } from './tasks-acts.js';
import { taskTable } from './tasks-table.js';
import { taskDetails } from './tasks-text.js';
import { paintedDiff, withCommand } from './terminal-text.js';

const MAX_WHY_CHARS = 500;
/** Of a line of a patch on a terminal. */
const MAX_LINE_CHARS = 64 * 1024;
/** Words that people try for a command. */
const meant: Readonly<Record<string, string>> = { logs: 'log', status: 'show', send: 'message' };

/** Adds `tasks` and its commands. */
export function addTasks(parent: Command, context: CommandContext): void {
  const description = 'list, show, follow, answer, message and end tasks, with or without a running server';
  const examples = ['', 'show d93a7d', 'answer d93a7d y'];
  const tasks = addCommand(parent, context, 'tasks', description, ...examples);
  const group = groupOf(tasks, context, false);
  const { add, addText, act } = group;
  const one = ['[task]', `${ID_WORDS}; default: the only running task`] as const;
  addList(tasks, group, 'list all tasks, first those that wait for you, then the newest (the default)', '');
  addShow(group, 'show one task: its record, its open questions, and its receipt or last output', one, '');
  for (const [name, words, follows] of [
    ['log', 'print the log of a task as it is now', false],
    ['follow', 'print the log of a task as it grows, until the task ends', true],
  ] as const)
    addText(name, words, 'd93a7d')
      .argument(...one)
      .action(
        act(undefined, async ({ tasks: service, find }, task?: string) => {
          const last = await showLog(service, await find(task), context, follows);
          return follows && isFinal(last.status) ? exitCodeOfEnd(last) : exitCodes.done;
        }),
      );
  addText('diff', 'print what a task changed, as git diff does', 'd93a7d', 'd93a7d > work.patch')
    .argument(...one)
    .action(act(undefined, (room, task?: string) => printDiff(room, task, context)));
  addVerify(group);
  const answers = ['d93a7d y', 'd93a7d dec_2 n "Use pnpm."', 'd93a7d 2'];
  const severally = 'd93a7d --option 2 --option "the blue one"';
  addAnswer(add('answer', 'answer an open question of a task', ...answers, severally), '<task>', group);
  addActs(group);
}

/** Adds `list`, which is also what the parent does without a command. */
export function addList(parent: Command, group: Group, words: string, ...examples: string[]): void {
  const { add, act, native, context } = group;
  const list = async ({ local, list: listed, statePath, print }: Room): Promise<ExitCode> => {
    const { say, look, command } = context;
    if (native && !isNativeOn(statePath)) say(`This view is off. ${command} native on begins it again.`);
    const { tasks: records, unreadable = [], foreign, notes = [] } = await listed({ native });
    for (const note of notes) say(shownLine(note));
    for (const { task_id, why } of unreadable) say(`${task_id} ${oneLine(why, MAX_WHY_CHARS)}`);
    const adopt = withCommand('When no bridge runs there any more:', `${command} state adopt`, look);
    if (foreign !== undefined) say(`${foreign.message}\n${adopt}`);
    const history = native || foreign !== undefined ? undefined : await local.historyWords();
    if (history !== undefined) say(history);
    const isEmpty = native && records.length === 0;
    const table = taskTable(records, { ...context, nowMs: systemClock.now() });
    return print(records, isEmpty ? 'No sessions in the allowed folders.\n' : table);
  };
  add('list', words, ...examples, '--json').action(act(undefined, list));
  addDefaultList(parent, act<[unknown, Command]>(undefined, list), meant);
}

/** Adds `show`; `argument`: the name of what is shown, and its words. */
export function addShow(
  { add, act, context }: Group,
  words: string,
  argument: readonly [string, string],
  ...examples: string[]
): void {
  add('show', words, ...examples, 'd93a7d')
    .argument(...argument)
    .action(
      act(undefined, async ({ find, receiptOf, print }, task?: string) => {
        const record = await find(task);
        const receipt = await receiptOf(record);
        // A path of another machine means nothing here.
        const isHere = farIdOf(record.task_id) === undefined;
        const isGone = isHere && !existsSync(record.worktree?.path ?? record.project_path);
        const text = taskDetails(record, { ...context, receipt, isGone, nowMs: systemClock.now() });
        return print({ ...record, ...(receipt !== undefined && { receipt }) }, text);
      }),
    );
}

/**
 * Prints what a task changed, as `git diff` does; on a terminal in colours, and with control characters as escapes. Throws
 * NOT_A_REPOSITORY where git saw nothing of it, and the errors of git.
 */
async function printDiff(
  { find, patch }: Room,
  task: string | undefined,
  { output, look, say }: CommandContext,
): Promise<ExitCode> {
  const record = await find(task);
  const text = new TextDecoder();
  let rest = '';
  const take = (chunk: Uint8Array): Promise<void> => {
    if (look.columns === undefined) return output.write(chunk);
    const lines = `${rest}${shownCharacters(text.decode(chunk, { stream: true }))}`.split('\n');
    // A line without end is shown in parts.
    rest = (lines.at(-1) ?? '').length > MAX_LINE_CHARS ? '' : (lines.pop() ?? '');
    return output.write(lines.map((line) => `${paintedDiff(line, look)}\n`).join(''));
  };
  let notes: readonly string[] = [];
  try {
    notes = await patch(record, take, output.lost);
  } catch (error) {
    // git was ended since nothing takes its output: the end says what that means.
    if (!output.lost.aborted) throw error;
  }
  if (rest !== '') await output.write(`${paintedDiff(rest, look)}\n`);
  for (const note of notes) say(shownLine(note));
  return exitCodes.done;
}
