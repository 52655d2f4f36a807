import { Argument, type Command } from 'commander';
import { BridgeError } from '../base/errors.js';
import { DECISION_ID_PATTERN } from '../base/ids.js';
import { nearestName } from '../base/text/nearest-name.js';
import { oneLine } from '../base/text/text.js';
import { finishActionSchema, type FinishAction } from '../tasks/worktree-maker.js';
import { wholeNumber, type CommandContext } from './command-context.js';
import { verdictOf, verdicts, type Verdict } from './decisions.js';
import type { TasksRequest } from './tasks.js';

export const JSON_WORDS = 'print one JSON value instead of text';
const ID_WORDS = 'the id, its beginning or its last six digits';
const SHOWN_CHARS = 40;
const MAX_KEPT = 99_999;
/** What `tasks` does without a command. */
export const DEFAULT_LIST = 'default-list';
/** Words that people try for a command. */
const meant: Readonly<Record<string, string>> = { logs: 'log', status: 'show', send: 'message' };

interface JsonFlag {
  readonly json?: boolean;
}
type RunTasks = (request: TasksRequest, flags?: JsonFlag) => Promise<void>;

export function addTasks(program: Command, context: CommandContext): void {
  const tasks = program
    .command('tasks')
    .description('list, show, follow, answer, message and end tasks, with or without a running server');
  const run = tasksRunner(context, { native: false });
  addDefaultList(tasks, run);
  const one = ['[task]', `${ID_WORDS}; default: the only running task`] as const;
  addReading(tasks, run, {
    list: 'list all tasks, first those that wait for you, then the newest (the default)',
    show: 'show one task: its record, its open questions, and its receipt or last output',
    one,
  });
  for (const [what, description] of [
    ['log', 'print the log of a task as it is now'],
    ['follow', 'print the log of a task as it grows, until the task ends'],
    ['diff', 'print what a task changed, as git diff does'],
  ] as const)
    tasks
      .command(what)
      .description(description)
      .argument(...one)
      .action((task: string | undefined) => run({ what, task }));
  addTaskChanges(tasks, run);
}

export function addNative(program: Command, context: CommandContext): void {
  const native = program
    .command('native')
    .description('list, show and answer sessions of Claude Code that you started yourself');
  const run = tasksRunner(context, { native: true });
  addDefaultList(native, run);
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
  parent
    .command('list')
    .description(list)
    .option('--json', JSON_WORDS)
    .action((flags: JsonFlag) => run({ what: 'list' }, flags));
  parent
    .command('show')
    .description(show)
    .argument(...one)
    .option('--json', JSON_WORDS)
    .action((task: string | undefined, flags: JsonFlag) => run({ what: 'show', task }, flags));
}

/** `description` and the name of the argument are words of the help. */
function addAnswer(parent: Command, run: RunTasks, description: string, argument: string): void {
  parent
    .command('answer')
    .description(description)
    .argument(argument, ID_WORDS)
    .argument(
      '[words...]',
      'the id of the decision, if several are open, and y, n, allow, allow_session or deny',
    )
    .option('--message <text>', 'with deny: why, or what to do instead')
    .option(
      '--option <choice>',
      'for a question: number of an option, or own words; once for each question',
      all,
      [],
    )
    .option('--json', JSON_WORDS)
    .action((id: string, words: string[], { json, message, option }: AnswerFlags) =>
      run(
        { what: 'answer', task: id, ...answerOfWords(words), message, options: option },
        json ? { json } : {},
      ),
    );
}

/** The commands that change something. */
function addTaskChanges(tasks: Command, run: RunTasks): void {
  const task = ['<task>', ID_WORDS] as const;
  addAnswer(tasks, run, 'answer an open question of a task', '<task>');
  tasks
    .command('message')
    .description('send a task a message, which its agent gets at the end of its turn')
    .argument(...task)
    .argument('<words...>', 'the message')
    .option('--json', JSON_WORDS)
    .action((id: string, words: string[], flags: JsonFlag) =>
      run({ what: 'message', task: id, text: words.join(' ') }, flags),
    );
  tasks
    .command('interrupt')
    .description('stop the turn of a task; its session stays and takes messages')
    .argument(...task)
    .option('--json', JSON_WORDS)
    .action((id: string, flags: JsonFlag) => run({ what: 'interrupt', task: id }, flags));
  tasks
    .command('kill')
    .description('end a task and every process that it started')
    .argument(...task)
    .option('--reason <words>', 'reason, for the record of the task')
    .option('--json', JSON_WORDS)
    .action((id: string, flags: JsonFlag & { reason?: string }) =>
      run({ what: 'kill', task: id, reason: flags.reason }, flags),
    );
  tasks
    .command('finish')
    .description(
      'end the worktree of a task: merge its branch, apply it as uncommitted changes, or discard it; or undo what changed in a shared folder',
    )
    .argument(...task)
    .addArgument(new Argument('<action>', 'what becomes of its work').choices(finishActionSchema.options))
    .option('--reviewed <tree>', 'refuse another tree than this one; default: the one that the command shows')
    .option('--json', JSON_WORDS)
    .action((id: string, action: FinishAction, flags: JsonFlag & { reviewed?: string }) =>
      run({ what: 'finish', task: id, action, reviewed: flags.reviewed }, flags),
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
    .action((flags: JsonFlag & { keep?: number }) => run({ what: 'prune', keep: flags.keep }, flags));
  tasks
    .command('rm')
    .description('remove one finished task: its record, receipt, prompt, log and recording')
    .argument(...task)
    .option('--force', 'also a task whose worktree holds work; the worktree stays')
    .option('--json', JSON_WORDS)
    .action((id: string, flags: JsonFlag & { force?: boolean }) =>
      run({ what: 'rm', task: id, force: flags.force === true }, flags),
    );
}

interface AnswerFlags extends JsonFlag {
  readonly message?: string;
  readonly option: readonly string[];
}

function all(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

/** `[decision] [verdict]`. Throws INVALID_ARGUMENTS for other words. */
function answerOfWords(words: readonly string[]): { decision?: string; verdict?: Verdict } {
  const verdict = verdictOf(words.at(-1) ?? '');
  const [decision, ...more] = verdict === undefined ? words : words.slice(0, -1);
  if (more.length === 0 && (decision === undefined || DECISION_ID_PATTERN.test(decision)))
    return { ...(decision !== undefined && { decision }), ...(verdict !== undefined && { verdict }) };
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `'${oneLine(words.join(' '), SHOWN_CHARS)}' is no answer.`,
    `After the task, write the id of a decision (dec_1), if several are open, and one of y, n, ${verdicts.join(', ')}.`,
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
      if (word === undefined) return run({ what: 'list' }, flags);
      const known = tasks.commands.map((one) => one.name()).filter((name) => name !== command.name());
      const near = Object.hasOwn(meant, word) ? meant[word] : nearestName(word, known);
      const suggestion = near === undefined ? '' : `; did you mean ${near}?`;
      return tasks.error(
        `error: unknown command '${oneLine(word, SHOWN_CHARS)}' (known: ${known.join(', ')})${suggestion}`,
      );
    });
}

function tasksRunner(context: CommandContext, { native }: { readonly native: boolean }): RunTasks {
  return async (request, flags = {}) => {
    const { runTasks } = await import('./tasks.js');
    context.exitWith(await runTasks(request, { ...context, native, json: flags.json ?? false }));
  };
}
