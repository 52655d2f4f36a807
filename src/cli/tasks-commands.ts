import { Argument, type Command } from 'commander';
import { nearestName } from '../base/input.js';
import { oneLine } from '../base/text.js';
import { finishActionSchema, type FinishAction } from '../tasks/worktree-maker.js';
import { wholeNumber, type CommandContext } from './command-context.js';
import { addCommand, confirmation, JSON_WORDS } from './commands.js';
import { answerOfWords } from './decisions.js';
import type { TaskCommand } from './tasks.js';

const ID_WORDS = 'the id, its beginning or its last digits';
const SHOWN_CHARS = 40;
const MAX_KEPT = 99_999;
/** What `tasks` does without a command. */
const DEFAULT_LIST = 'default-list';
/** Words that people try for a command. */
const meant: Readonly<Record<string, string>> = { logs: 'log', status: 'show', send: 'message' };
const END = 'end or remove tasks';

interface JsonFlag {
  readonly json?: boolean;
}
interface AnswerFlags extends JsonFlag {
  readonly message?: string;
  readonly option: readonly string[];
}

/** What the commands of one parent share. */
interface Group {
  /** A command with its examples, each behind the words of the parent. */
  readonly add: (name: string, description: string, ...examples: string[]) => Command;
  /** Runs a command; `act`: what it does, for one that changes something. */
  readonly run: (command: TaskCommand, flags?: JsonFlag, act?: string) => Promise<void>;
}

/** Adds `tasks` and its commands. `program`: how a person runs this program. */
export function addTasks(parent: Command, program: string, context: CommandContext): void {
  const description = 'list, show, follow, answer, message and end tasks, with or without a running server';
  const examples = ['tasks', 'tasks show d93a7d', 'tasks answer d93a7d y'];
  const tasks = addCommand(parent, 'tasks', description, { program, examples });
  const group = groupOf(tasks, program, context, false);
  const { add, run } = group;
  const one = ['[task]', `${ID_WORDS}; default: the only running task`] as const;
  addDefaultList(tasks, group);
  add('list', 'list all tasks, first those that wait for you, then the newest (the default)', '', '--json')
    .option('--json', JSON_WORDS)
    .action((flags: JsonFlag) => run((all) => all.list(), flags));
  add('show', 'show one task: its record, its open questions, and its receipt or last output', '', 'd93a7d')
    .argument(...one)
    .option('--json', JSON_WORDS)
    .action((task: string | undefined, flags: JsonFlag) => run((all) => all.show(task), flags));
  add('log', 'print the log of a task as it is now', 'd93a7d')
    .argument(...one)
    .action((task?: string) => run((all) => all.log(task, false)));
  add('follow', 'print the log of a task as it grows, until the task ends', 'd93a7d')
    .argument(...one)
    .action((task?: string) => run((all) => all.log(task, true)));
  add('diff', 'print what a task changed, as git diff does', 'd93a7d', 'd93a7d > work.patch')
    .argument(...one)
    .action((task?: string) => run((all) => all.diff(task)));
  add('verify', 'run the checks of a task that has ended in a clean copy of its work', 'd93a7d')
    .argument(...one)
    .option('--json', JSON_WORDS)
    .action((task: string | undefined, flags: JsonFlag) =>
      run((all) => all.verify(task), flags, 'verify tasks'),
    );
  const answer = add(
    'answer',
    'answer an open question of a task',
    'd93a7d y',
    'd93a7d dec_2 n "Use pnpm."',
    'd93a7d 2',
    'd93a7d --option 2 --option "the blue one"',
  );
  addAnswer(answer, '<task>', run);
  addSteering(group);
  addEnds(group);
}

/** Adds `native` and its commands. `program`: how a person runs this program. */
export function addNative(parent: Command, program: string, context: CommandContext): void {
  const description = 'list, show and answer sessions of Claude Code that you started yourself';
  const examples = ['native', 'native answer d93a7d y'];
  const native = addCommand(parent, 'native', description, { program, examples });
  const group = groupOf(native, program, context, true);
  const { add, run } = group;
  addDefaultList(native, group);
  add('list', 'list your sessions, first those that wait for you, then the newest (the default)', '--json')
    .option('--json', JSON_WORDS)
    .action((flags: JsonFlag) => run((all) => all.list(), flags));
  add('show', 'show one session: what it does, and what it asks', 'd93a7d')
    .argument('[session]', `${ID_WORDS}; default: the only one that runs`)
    .option('--json', JSON_WORDS)
    .action((task: string | undefined, flags: JsonFlag) => run((all) => all.show(task), flags));
  addAnswer(add('answer', 'answer what a session asks', 'd93a7d y', 'd93a7d 2'), '<session>', run);
  for (const [word, words, isOn] of [
    ['off', 'end it: no session that you start is seen, recorded or answered any more', false],
    ['on', 'see, record and answer such sessions again', true],
  ] as const)
    add(word, words, '').action(async () => {
      const { switchSessions } = await import('./native.js');
      context.exitWith(await switchSessions(isOn, context));
    });
}

function groupOf(parent: Command, program: string, context: CommandContext, native: boolean): Group {
  return {
    add: (name, description, ...examples) => {
      const words = examples.map((example) => `${parent.name()} ${name} ${example}`.trimEnd());
      return addCommand(parent, name, description, { program, examples: words });
    },
    run: async (command, { json = false } = {}, act) => {
      const { runTasks } = await import('./tasks.js');
      const confirm = confirmation();
      context.exitWith(await runTasks(command, act, { ...context, native, json, confirm }));
    },
  };
}

function addAnswer(command: Command, argument: string, run: Group['run']): void {
  command
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
function addSteering({ add, run }: Group): void {
  add(
    'message',
    'send a task a message, which its agent gets at the end of its turn',
    'd93a7d "Use pnpm instead of npm."',
  )
    .argument('<task>', ID_WORDS)
    .argument('<words...>', 'the message')
    .option('--json', JSON_WORDS)
    .action((id: string, words: string[], flags: JsonFlag) =>
      run((all) => all.message(id, words.join(' ')), flags, 'send messages to tasks'),
    );
  add('interrupt', 'stop the turn of a task; its session stays and takes messages', 'd93a7d')
    .argument('<task>', ID_WORDS)
    .option('--json', JSON_WORDS)
    .action((id: string, flags: JsonFlag) => run((all) => all.interrupt(id), flags, 'interrupt tasks'));
  add('kill', 'end a task and every process that it started', 'd93a7d', 'd93a7d --reason "The wrong branch."')
    .argument('<task>', ID_WORDS)
    .option('--reason <words>', 'reason, for the record of the task')
    .option('--json', JSON_WORDS)
    .action((id: string, flags: JsonFlag & { reason?: string }) =>
      run((all) => all.kill(id, flags.reason), flags, END),
    );
}

/** The commands for what ended tasks leave. */
function addEnds({ add, run }: Group): void {
  add(
    'finish',
    'end the worktree of a task: merge its branch, apply it as uncommitted changes, or discard it; or undo what changed in a shared folder',
    'd93a7d merge',
    'd93a7d apply',
  )
    .argument('<task>', ID_WORDS)
    .addArgument(
      new Argument(`<${finishActionSchema.options.join('|')}>`, 'what becomes of its work').choices(
        finishActionSchema.options,
      ),
    )
    .option('--reviewed <tree>', 'refuse another tree than this one; default: the one that the command shows')
    .option('--anyway', 'merge or apply also what does not meet its checks')
    .option('--json', JSON_WORDS)
    .action((id: string, action: FinishAction, flags: JsonFlag & { reviewed?: string; anyway?: boolean }) =>
      run((all) => all.finish(id, action, flags), flags, 'finish tasks'),
    );
  add('prune', 'remove finished tasks from the state directory, never a running one', '', '--keep 50')
    .option(
      '--keep <count>',
      'how many of the newest to keep; default: the setting task_history_size',
      (text) => wholeNumber('--keep', text, 0, MAX_KEPT),
    )
    .option('--json', JSON_WORDS)
    .action((flags: JsonFlag & { keep?: number }) => run((all) => all.prune(flags.keep), flags, END));
  add('rm', 'remove one finished task: its record, receipt, prompt, log and recording', 'd93a7d')
    .argument('<task>', ID_WORDS)
    .option('--force', 'also a task whose worktree holds work; the worktree stays')
    .option('--json', JSON_WORDS)
    .action((id: string, flags: JsonFlag & { force?: boolean }) =>
      run((all) => all.rm(id, flags.force === true), flags, END),
    );
}

/** `tasks` without a command lists. A word that no command has gets here too, since commander takes it as an argument of the default command. */
function addDefaultList(tasks: Command, { run }: Group): void {
  tasks
    .command(DEFAULT_LIST, { isDefault: true, hidden: true })
    .option('--json', JSON_WORDS)
    .allowExcessArguments()
    .action((flags: JsonFlag, command: Command) => {
      const [word] = command.args;
      if (word === undefined) return run((all) => all.list(), flags);
      const known = tasks.commands.map((one) => one.name()).filter((name) => name !== DEFAULT_LIST);
      const near = Object.hasOwn(meant, word) ? meant[word] : nearestName(word, known);
      const suggestion = near === undefined ? '' : `; did you mean ${near}?`;
      return tasks.error(
        `error: unknown command '${oneLine(word, SHOWN_CHARS)}' (known: ${known.join(', ')})${suggestion}`,
      );
    });
}
