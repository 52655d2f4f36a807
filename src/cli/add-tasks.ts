import { Argument, type Command } from 'commander';
import { nearestName } from '../base/input.js';
import { oneLine } from '../base/text.js';
import { finishActionSchema, type FinishAction } from '../tasks/worktree-maker.js';
import { wholeNumber, type CommandContext } from './command-context.js';
import { answerOfWords } from './decisions.js';
import { terminalQuestions } from './init/questions.js';
import type { TaskCommand } from './tasks.js';

export const JSON_WORDS = 'print one JSON value instead of text';
const ID_WORDS = 'the id, its beginning or its last digits';
const SHOWN_CHARS = 40;
const MAX_KEPT = 99_999;
/** What `tasks` does without a command. */
export const DEFAULT_LIST = 'default-list';
/** Words that people try for a command. */
const meant: Readonly<Record<string, string>> = { logs: 'log', status: 'show', send: 'message' };

interface JsonFlag {
  readonly json?: boolean;
}
interface AnswerFlags extends JsonFlag {
  readonly message?: string;
  readonly option: readonly string[];
}
/** `act`: what a command does that changes something. */
type RunTasks = (command: TaskCommand, flags?: JsonFlag, act?: string) => Promise<void>;

const TASK = ['<task>', ID_WORDS] as const;
const END = 'end or remove tasks';

export function addTasks(program: Command, context: CommandContext): void {
  const tasks = program
    .command('tasks')
    .description('list, show, follow, answer, message and end tasks, with or without a running server');
  const run = tasksRunner(context, false);
  const one = ['[task]', `${ID_WORDS}; default: the only running task`] as const;
  addReading(tasks, run, {
    list: 'list all tasks, first those that wait for you, then the newest (the default)',
    show: 'show one task: its record, its open questions, and its receipt or last output',
    one,
  });
  for (const [name, description, command] of [
    ['log', 'print the log of a task as it is now', (task) => (all) => all.log(task, false)],
    [
      'follow',
      'print the log of a task as it grows, until the task ends',
      (task) => (all) => all.log(task, true),
    ],
    ['diff', 'print what a task changed, as git diff does', (task) => (all) => all.diff(task)],
  ] satisfies readonly [string, string, (task?: string) => TaskCommand][])
    tasks
      .command(name)
      .description(description)
      .argument(...one)
      .action((task?: string) => run(command(task)));
  addAnswer(tasks, run, 'answer an open question of a task', TASK[0]);
  addSteering(tasks, run);
  addEnds(tasks, run);
}

export function addNative(program: Command, context: CommandContext): void {
  const native = program
    .command('native')
    .description('list, show and answer sessions of Claude Code that you started yourself');
  const run = tasksRunner(context, true);
  addReading(native, run, {
    list: 'list your sessions, first those that wait for you, then the newest (the default)',
    show: 'show one session: what it does, and what it asks',
    one: ['[session]', `${ID_WORDS}; default: the only one that runs`],
  });
  addAnswer(native, run, 'answer what a session asks', '<session>');
  for (const [word, description, isOn] of [
    ['off', 'end it: no session that you start is seen, recorded or answered any more', false],
    ['on', 'see, record and answer such sessions again', true],
  ] as const)
    native
      .command(word)
      .description(description)
      .action(async () => {
        const { switchSessions } = await import('./native.js');
        context.exitWith(await switchSessions(isOn, context));
      });
}

interface ReadingWords {
  readonly list: string;
  readonly show: string;
  /** The name and the description of the argument. */
  readonly one: readonly [string, string];
}

function addReading(parent: Command, run: RunTasks, { list, show, one }: ReadingWords): void {
  addDefaultList(parent, run);
  parent
    .command('list')
    .description(list)
    .option('--json', JSON_WORDS)
    .action((flags: JsonFlag) => run((all) => all.list(), flags));
  parent
    .command('show')
    .description(show)
    .argument(...one)
    .option('--json', JSON_WORDS)
    .action((task: string | undefined, flags: JsonFlag) => run((all) => all.show(task), flags));
}

/** `description` and the name of the argument are words of the help. */
function addAnswer(parent: Command, run: RunTasks, description: string, argument: string): void {
  parent
    .command('answer')
    .description(description)
    .argument(argument, ID_WORDS)
    .argument(
      '[words...]',
      'the id of the decision, if several are open; then y, allow_session, or n and why; or the answer to a question: the number of an option, or your own words',
    )
    .option('--message <text>', 'with deny: why, or what to do instead')
    .option(
      '--option <choice>',
      'of several questions: the number of an option, or your own words; once for each',
      (value: string, before: readonly string[]) => [...before, value],
      [],
    )
    .option('--json', JSON_WORDS)
    .action((id: string, words: string[], flags: AnswerFlags) => {
      const { decision, ...given } = answerOfWords(words, flags);
      return run((all) => all.answer(id, decision, given), flags, 'answer questions of tasks');
    });
}

/** The commands for a task that runs. */
function addSteering(tasks: Command, run: RunTasks): void {
  tasks
    .command('message')
    .description('send a task a message, which its agent gets at the end of its turn')
    .argument(...TASK)
    .argument('<words...>', 'the message')
    .option('--json', JSON_WORDS)
    .action((id: string, words: string[], flags: JsonFlag) =>
      run((all) => all.message(id, words.join(' ')), flags, 'send messages to tasks'),
    );
  tasks
    .command('interrupt')
    .description('stop the turn of a task; its session stays and takes messages')
    .argument(...TASK)
    .option('--json', JSON_WORDS)
    .action((id: string, flags: JsonFlag) => run((all) => all.interrupt(id), flags, 'interrupt tasks'));
  tasks
    .command('kill')
    .description('end a task and every process that it started')
    .argument(...TASK)
    .option('--reason <words>', 'reason, for the record of the task')
    .option('--json', JSON_WORDS)
    .action((id: string, flags: JsonFlag & { reason?: string }) =>
      run((all) => all.kill(id, flags.reason), flags, END),
    );
}

/** The commands for what ended tasks leave. */
function addEnds(tasks: Command, run: RunTasks): void {
  tasks
    .command('finish')
    .description(
      'end the worktree of a task: merge its branch, apply it as uncommitted changes, or discard it; or undo what changed in a shared folder',
    )
    .argument(...TASK)
    .addArgument(new Argument('<action>', 'what becomes of its work').choices(finishActionSchema.options))
    .option('--reviewed <tree>', 'refuse another tree than this one; default: the one that the command shows')
    .option('--json', JSON_WORDS)
    .action((id: string, action: FinishAction, flags: JsonFlag & { reviewed?: string }) =>
      run((all) => all.finish(id, action, flags.reviewed), flags, 'finish tasks'),
    );
  tasks
    .command('prune')
    .description('remove finished tasks from the state directory, never a running one')
    .option(
      '--keep <count>',
      'how many of the newest to keep; default: the setting task_history_size',
      (text) => wholeNumber('--keep', text, 0, MAX_KEPT),
    )
    .option('--json', JSON_WORDS)
    .action((flags: JsonFlag & { keep?: number }) => run((all) => all.prune(flags.keep), flags, END));
  tasks
    .command('rm')
    .description('remove one finished task: its record, receipt, prompt, log and recording')
    .argument(...TASK)
    .option('--force', 'also a task whose worktree holds work; the worktree stays')
    .option('--json', JSON_WORDS)
    .action((id: string, flags: JsonFlag & { force?: boolean }) =>
      run((all) => all.rm(id, flags.force === true), flags, END),
    );
}

/** `tasks` without a command lists. A word that no command has gets here too, since commander takes it as an argument of the default command. */
function addDefaultList(tasks: Command, run: RunTasks): void {
  tasks
    .command(DEFAULT_LIST, { isDefault: true, hidden: true })
    .option('--json', JSON_WORDS)
    .allowExcessArguments()
    .action((flags: JsonFlag, command: Command) => {
      const [word] = command.args;
      if (word === undefined) return run((all) => all.list(), flags);
      const known = tasks.commands.map((one) => one.name()).filter((name) => name !== command.name());
      const near = Object.hasOwn(meant, word) ? meant[word] : nearestName(word, known);
      const suggestion = near === undefined ? '' : `; did you mean ${near}?`;
      return tasks.error(
        `error: unknown command '${oneLine(word, SHOWN_CHARS)}' (known: ${known.join(', ')})${suggestion}`,
      );
    });
}

function tasksRunner(context: CommandContext, native: boolean): RunTasks {
  return async (command, { json = false } = {}, act) => {
    const { runTasks } = await import('./tasks.js');
    const hasTerminal = process.stdin.isTTY && process.stdout.isTTY;
    const confirm = hasTerminal
      ? async (question: string) => (await terminalQuestions()).confirm(question, false)
      : undefined;
    context.exitWith(await runTasks(command, act, { ...context, native, json, confirm }));
  };
}
