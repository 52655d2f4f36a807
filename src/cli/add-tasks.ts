import type { Command } from 'commander';
import { closest, distance } from 'fastest-levenshtein';
import { BridgeError } from '../base/errors.js';
import { DECISION_ID_PATTERN } from '../base/ids.js';
import { oneLine } from '../base/text/text.js';
import { finishActionSchema, type FinishAction } from '../tasks/worktree-maker.js';
import { configPath, wholeNumber, type CommandContext } from './command-context.js';
import { verdicts, type Verdict } from './decision-answer.js';
import type { TasksRequest } from './tasks.js';

export const JSON_WORDS = 'print one JSON value instead of text';
const ID_WORDS = 'id or the start of one';
const SHOWN_CHARS = 40;
/** More than so many letters off is another word. */
const TYPO_LETTERS = 2;
const MAX_KEPT = 99_999;
const DEFAULT_COLUMNS = 80;
/** What `tasks` does without a command. */
export const DEFAULT_LIST = 'default-list';
/** Words that people try for a command. */
const meant: Readonly<Record<string, string>> = { logs: 'log', status: 'show' };

export function addTasks(program: Command, context: CommandContext): void {
  const tasks = program
    .command('tasks')
    .description('list, show, follow, answer and end tasks, with or without a running server');
  const run = tasksRunner(program, context);
  addDefaultList(tasks, run);
  tasks
    .command('list')
    .description('list all tasks, newest first (the default)')
    .option('--json', JSON_WORDS)
    .action((flags: { json?: boolean }) => run({ what: 'list' }, flags));
  tasks
    .command('show')
    .description('show one task: its record, its open questions, and its receipt or last output')
    .argument('[task]', 'task id or the start of one; default: the only running task')
    .option('--json', JSON_WORDS)
    .action((task: string | undefined, flags: { json?: boolean }) => run({ what: 'show', task }, flags));
  tasks
    .command('log')
    .description('print the log of a task as it is now')
    .argument('[task]', 'task id or the start of one; default: the only running task')
    .action((task: string | undefined) => run({ what: 'log', task }));
  tasks
    .command('follow')
    .description('print the log of a task as it grows, until the task ends')
    .argument('[task]', 'task id or the start of one')
    .action((task: string | undefined) => run({ what: 'follow', task }));
  tasks
    .command('diff')
    .description('print what a task changed, as git diff does')
    .argument('[task]', 'task id or the start of one; default: the only running task')
    .action((task: string | undefined) => run({ what: 'diff', task }));
  addTaskChanges(tasks, run);
}

/** `description` and the name of the argument are words of the help. */
export function addAnswer(parent: Command, run: RunTasks, description: string, argument: string): void {
  parent
    .command('answer')
    .description(description)
    .argument(argument, ID_WORDS)
    .argument('[words...]', 'the id of the decision, if several are open, and allow, allow_session or deny')
    .option('--message <text>', 'with deny: why, or what to do instead')
    .option(
      '--option <choice>',
      'for a question: number of an option, or own words; once for each question',
      all,
      [],
    )
    .option('--json', JSON_WORDS)
    .action((id: string, words: string[], { json, message, option }: AnswerFlags) =>
      run({ what: 'answer', task: id, ...answerOfWords(words), message, options: option }, { json }),
    );
}

/** The commands that change something. */
function addTaskChanges(tasks: Command, run: RunTasks): void {
  const task = ['<task>', ID_WORDS] as const;
  addAnswer(tasks, run, 'answer an open question of a task', '<task>');
  tasks
    .command('kill')
    .description('end a task and every process that it started')
    .argument(...task)
    .option('--reason <words>', 'reason, for the record of the task')
    .option('--json', JSON_WORDS)
    .action((id: string, flags: { json?: boolean; reason?: string }) =>
      run({ what: 'kill', task: id, reason: flags.reason }, flags),
    );
  tasks
    .command('finish')
    .description(
      'end the worktree of a task: merge its branch, apply it as uncommitted changes, or discard it',
    )
    .argument(...task)
    .argument('<action>', finishActionSchema.options.join(', '), finishAction)
    .option('--reviewed <tree>', 'refuse another tree than this one; default: the one that the command shows')
    .option('--json', JSON_WORDS)
    .action((id: string, action: FinishAction, flags: { json?: boolean; reviewed?: string }) =>
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
    .action((flags: { json?: boolean; keep?: number }) => run({ what: 'prune', keep: flags.keep }, flags));
  tasks
    .command('rm')
    .description('remove one finished task: its record, receipt, prompt, log and recording')
    .argument(...task)
    .option('--force', 'also a task whose worktree holds work; the worktree stays')
    .option('--json', JSON_WORDS)
    .action((id: string, flags: { json?: boolean; force?: boolean }) =>
      run({ what: 'rm', task: id, force: flags.force === true }, flags),
    );
}

interface AnswerFlags {
  readonly json?: boolean;
  readonly message?: string;
  readonly option: readonly string[];
}

function all(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

/** `[decision] [verdict]`. Throws INVALID_ARGUMENTS for other words. */
function answerOfWords(words: readonly string[]): { decision?: string; verdict?: Verdict } {
  const verdict = verdicts.find((known) => known === words.at(-1));
  const [decision, ...more] = verdict === undefined ? words : words.slice(0, -1);
  if (more.length === 0 && (decision === undefined || DECISION_ID_PATTERN.test(decision)))
    return { ...(decision !== undefined && { decision }), ...(verdict !== undefined && { verdict }) };
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `'${oneLine(words.join(' '), SHOWN_CHARS)}' is no answer.`,
    `After the task, write the id of a decision (dec_1), if several are open, and one of ${verdicts.join(', ')}.`,
  );
}

function finishAction(text: string): FinishAction {
  const parsed = finishActionSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `'${oneLine(text, SHOWN_CHARS)}' is no way to finish a worktree.`,
    `Use one of ${finishActionSchema.options.join(', ')}.`,
  );
}

/** `tasks` without a command lists. A word that no command has gets here too, since commander takes it as an argument of the default command. */
export function addDefaultList(tasks: Command, run: RunTasks): void {
  tasks
    .command(DEFAULT_LIST, { isDefault: true, hidden: true })
    .option('--json', JSON_WORDS)
    .allowExcessArguments()
    .action((flags: { json?: boolean }, command: Command) => {
      const [word] = command.args;
      if (word === undefined) return run({ what: 'list' }, flags);
      const known = tasks.commands.map((one) => one.name()).filter((name) => name !== command.name());
      const near = nearest(word, known);
      const suggestion = near === undefined ? '' : `; did you mean ${near}?`;
      return tasks.error(
        `error: unknown command '${oneLine(word, SHOWN_CHARS)}' (known: ${known.join(', ')})${suggestion}`,
      );
    });
}

function nearest(word: string, known: readonly string[]): string | undefined {
  const near = Object.hasOwn(meant, word) ? meant[word] : closest(word, known);
  return near !== undefined && (Object.hasOwn(meant, word) || distance(word, near) <= TYPO_LETTERS)
    ? near
    : undefined;
}

export type RunTasks = (request: TasksRequest, flags?: { json?: boolean | undefined }) => Promise<void>;

export function tasksRunner(
  program: Command,
  { env, homeDir, command, keeperEntry, output, exitWith }: CommandContext,
  { native = false } = {},
): RunTasks {
  return async (request, flags = {}) => {
    const { runTasks } = await import('./tasks.js');
    exitWith(
      await runTasks(request, {
        env,
        homeDir,
        configPath: configPath(program),
        keeperEntry,
        command,
        native,
        json: flags.json ?? false,
        write: output.write,
        lost: output.lost,
        say: (line) => void process.stderr.write(`${line}\n`),
        columns: terminalColumns(),
      }),
    );
  };
}

/** Undefined when stdout is no terminal: then nothing is cut. */
function terminalColumns(): number | undefined {
  // A terminal that does not know its width says 0.
  return process.stdout.isTTY ? process.stdout.columns || DEFAULT_COLUMNS : undefined;
}
