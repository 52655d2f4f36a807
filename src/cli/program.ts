import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError } from 'commander';
import { BridgeError, messageOf } from '../base/errors.js';
import { oneLine } from '../base/text/text.js';
import { expandHome } from '../config/home-path.js';
import { exitCodeOfError, exitCodes } from './exit-codes.js';
import type { InitIo } from './init/init-io.js';
import type { TasksRequest } from './tasks.js';
import { VERSION } from '../base/version.js';

const JSON_WORDS = 'print one JSON value instead of text';

const SHOWN_CHARS = 40;

/** What the commands are run with. */
interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly homeDir: string;
  readonly serverEntry: string;
  readonly exitWith: (code: number) => void;
}

/** Runs the command that `argv` names and resolves with its exit code, one of `exitCodes`. Errors are printed to stderr. */
export async function runProgram(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  let exitCode = 0;
  // `claude-code-bridge demo | head`: the reader of the output may be gone; the command still cleans up.
  process.stdout.on('error', () => undefined);
  const context: CommandContext = {
    env,
    homeDir: env['HOME'] ?? homedir(),
    serverEntry: fileURLToPath(new URL('./main.js', import.meta.url)),
    exitWith: (code) => void (exitCode = code),
  };
  const program = new Command('claude-code-bridge')
    .description(
      'An MCP server that runs Claude Code in your projects. Without a command, it serves a client over stdin and stdout.',
    )
    .version(VERSION)
    .option('--config <file>', 'settings file to read')
    .option('--toolsets <names>', 'toolsets to offer, separated by commas, or "all"')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();
  for (const add of [addServe, addInit, addExplain, addDemo, addAttach, addTasks]) add(program, context);
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    // Commander has printed its own errors; help and version end with code 0.
    if (error instanceof CommanderError)
      return error.exitCode === 0 ? exitCodes.done : exitCodes.badCommandLine;
    const text =
      error instanceof BridgeError ? `${error.code}: ${error.message}\n${error.hint}` : messageOf(error);
    process.stderr.write(`${text}\n`);
    return exitCodeOfError(error);
  }
  return exitCode;
}

/** The settings file that the command line names. */
function configPath(program: Command): string | undefined {
  return program.opts<{ config?: string }>().config;
}

/** For its help; main.ts runs `serve` without loading this file. */
function addServe(program: Command): void {
  program.command('serve').description('serve one MCP client over stdin and stdout (the default)');
}

function addInit(program: Command, { env, homeDir, serverEntry, exitWith }: CommandContext): void {
  program
    .command('init')
    .description(
      'ask for the allowed roots and write the settings file; add the server to Claude Desktop if you agree',
    )
    .option('--roots <paths>', 'allowed roots, separated by commas, instead of asking')
    .option('--claude-desktop', 'add the server to Claude Desktop without asking')
    .option('--yes', 'answer every question with yes')
    .action(async (flags: { roots?: string; claudeDesktop?: boolean; yes?: boolean }) => {
      const [{ runInit }, { serverCommandFor }] = await Promise.all([
        import('./init/init.js'),
        import('./init/claude-desktop-settings.js'),
      ]);
      exitWith(
        await runInit({
          io: await initIo(),
          homeDir,
          platform: process.platform,
          cwd: process.cwd(),
          path: env['PATH'] ?? '',
          serverCommand: serverCommandFor(serverEntry, process.execPath),
          ...flags,
        }),
      );
    });
}

function addExplain(program: Command, { env, homeDir, exitWith }: CommandContext): void {
  program
    .command('explain')
    .description(
      'show which rule decides a request, and why; nothing is run (exit code 0 allow, 2 ask, 3 deny)',
    )
    .argument('<tool>', 'the tool, such as Bash or Edit')
    .argument('<input>', 'for Bash the command line, otherwise a path, a URL or JSON')
    .option('--mode <mode>', 'auto, cautious or sandboxed', 'cautious')
    .option('--project <path>', 'the project', '.')
    .action(async (tool: string, input: string, flags: { mode: string; project: string }) => {
      const { runExplain } = await import('./explain.js');
      exitWith(
        await runExplain({
          tool,
          input,
          ...flags,
          configPath: configPath(program),
          env,
          cwd: process.cwd(),
          homeDir,
          write: (line) => void process.stdout.write(`${line}\n`),
        }),
      );
    });
}

function addDemo(program: Command, { env, homeDir, serverEntry, exitWith }: CommandContext): void {
  program
    .command('demo')
    .description(
      'run one task with the real Claude Code and a scripted model: needs no account and touches none of your files',
    )
    .option('--claude <path>', 'the claude program to use')
    .action(async (flags: { claude?: string }) => {
      const { demoCacheDir, runDemo } = await import('./demo/demo.js');
      const stop = new AbortController();
      const onSignal = (): void => stop.abort();
      process.once('SIGINT', onSignal);
      process.once('SIGTERM', onSignal);
      exitWith(
        await runDemo({
          io: { write: (text) => void process.stdout.write(text) },
          serverEntry,
          env,
          cacheDir: demoCacheDir(env),
          ...(flags.claude !== undefined && { claude: expandHome(flags.claude, homeDir) }),
          signal: stop.signal,
        }),
      );
    });
}

function addAttach(program: Command, { env, homeDir, exitWith }: CommandContext): void {
  program
    .command('attach')
    .description('show the terminal of a running task in this one; ctrl-] detaches, the task goes on')
    .argument('[task]', 'task id or the start of one; default: the only running task')
    .option('--detach-key <key>', 'the key that detaches', 'ctrl-]')
    .option('--read-only', 'only watch: your keys and the size of your terminal do not reach the session')
    .action(async (task: string | undefined, flags: { detachKey: string; readOnly?: boolean }) => {
      const { runAttach } = await import('./attach/attach.js');
      exitWith(
        await runAttach({
          task,
          ...flags,
          configPath: configPath(program),
          env,
          homeDir,
          input: process.stdin,
          output: process.stdout,
        }),
      );
    });
}

function addTasks(program: Command, context: CommandContext): void {
  const tasks = program
    .command('tasks')
    .description('list, show, follow and end tasks, with or without a running server');
  const run = tasksRunner(program, context);
  addDefaultList(tasks, run);
  tasks
    .command('list')
    .description('list all tasks, newest first (the default)')
    .option('--json', JSON_WORDS)
    .action((flags: { json?: boolean }) => run({ what: 'list' }, flags));
  tasks
    .command('show')
    .description('show one task: its record, its open questions, its last output')
    .argument('[task]', 'task id or the start of one; default: the only running task')
    .option('--json', JSON_WORDS)
    .action((task: string | undefined, flags: { json?: boolean }) => run({ what: 'show', task }, flags));
  tasks
    .command('follow')
    .description('print the log of a task as it grows, until the task ends')
    .argument('[task]', 'task id or the start of one')
    .action((task: string | undefined) => run({ what: 'follow', task }));
  tasks
    .command('kill')
    .description('end a task and every process that it started')
    .argument('<task>', 'task id or the start of one')
    .option('--reason <words>', 'reason, for the record of the task')
    .option('--json', JSON_WORDS)
    .action((task: string, flags: { json?: boolean; reason?: string }) =>
      run({ what: 'kill', task, reason: flags.reason }, flags),
    );
  tasks
    .command('prune')
    .description('remove finished tasks from the state directory, never a running one')
    .option(
      '--keep <count>',
      'how many of the newest to keep; default: the setting task_history_size',
      wholeNumber,
    )
    .option('--json', JSON_WORDS)
    .action((flags: { json?: boolean; keep?: number }) => run({ what: 'prune', keep: flags.keep }, flags));
}

/** `tasks` without a command lists. A word that no command has gets here too, since commander takes it as an argument of the default command. */
function addDefaultList(tasks: Command, run: RunTasks): void {
  tasks
    .command('default-list', { isDefault: true, hidden: true })
    .option('--json', JSON_WORDS)
    .allowExcessArguments()
    .action((flags: { json?: boolean }, command: Command) => {
      const [word] = command.args;
      if (word === undefined) return run({ what: 'list' }, flags);
      const known = tasks.commands.map((one) => one.name()).filter((name) => name !== command.name());
      return tasks.error(
        `error: unknown command '${oneLine(word, SHOWN_CHARS)}' (known: ${known.join(', ')})`,
      );
    });
}

type RunTasks = (request: TasksRequest, flags?: { json?: boolean }) => Promise<void>;

function tasksRunner(program: Command, { env, homeDir, exitWith }: CommandContext): RunTasks {
  return async (request, flags = {}) => {
    const { runTasks } = await import('./tasks.js');
    exitWith(
      await runTasks(request, {
        env,
        homeDir,
        configPath: configPath(program),
        keeperEntry: fileURLToPath(new URL('./keeper.js', import.meta.url)),
        json: flags.json ?? false,
        write: (text) => void process.stdout.write(text),
      }),
    );
  };
}

function wholeNumber(text: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `--keep must be a whole number from 0 to 99999 (got '${oneLine(text, SHOWN_CHARS)}').`,
    'Correct the number.',
  );
}

/** Questions need a terminal for input and output; without one, the flags must answer everything. */
async function initIo(): Promise<InitIo> {
  const hasTerminal = process.stdin.isTTY && process.stdout.isTTY;
  return {
    write: (text) => void process.stdout.write(`${text}\n`),
    writeError: (text) => void process.stderr.write(`${text}\n`),
    questions: hasTerminal ? await (await import('./init/clack-questions.js')).clackQuestions() : undefined,
  };
}
