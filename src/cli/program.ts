import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { BridgeError, messageOf } from '../base/errors.js';
import type { InitIo } from './init/init-io.js';
import type { TasksWish } from './tasks.js';
import { VERSION } from './version.js';

/** Settings that cannot be used, as sysexits.h names it; `serve` ends with it, too. */
const EXIT_CONFIG = 78;
const JSON_WORDS = 'one JSON value instead of text';

/** What the commands are run with. */
interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly homeDir: string;
  readonly serverEntry: string;
  readonly exitWith: (code: number) => void;
}

/** Runs the command that `argv` names and resolves with its exit code: 1 for an error, 78 for settings that cannot be used. Errors are printed to stderr. */
export async function runProgram(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  let exitCode = 0;
  // `claude-code-bridge demo | head`: the reader of the output is gone; what was begun is still cleaned up.
  process.stdout.on('error', () => undefined);
  const context: CommandContext = {
    env,
    homeDir: env['HOME'] ?? homedir(),
    serverEntry: fileURLToPath(new URL('./main.js', import.meta.url)),
    exitWith: (code) => void (exitCode = code),
  };
  const program = new Command('claude-code-bridge')
    .description(
      'An MCP server that runs Claude Code in your projects. Without a command it serves over stdin and stdout.',
    )
    .version(VERSION)
    .option('--config <file>', 'settings file to read')
    .option('--toolsets <names>', 'toolsets to offer, separated by commas, or "all"');
  for (const add of [addServe, addInit, addExplain, addDemo, addAttach, addTasks]) add(program, context);
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    const text =
      error instanceof BridgeError ? `${error.code}: ${error.message}\n${error.hint}` : messageOf(error);
    process.stderr.write(`${text}\n`);
    return error instanceof BridgeError && error.code === 'CONFIG_ERROR' ? EXIT_CONFIG : 1;
  }
  return exitCode;
}

/** The settings file that the command line names. */
function configPath(program: Command): string | undefined {
  return program.opts<{ config?: string }>().config;
}

/** `serve` is run by main.ts, without a command line's code. */
function addServe(program: Command): void {
  program
    .command('serve')
    .description('serve one MCP client over stdin and stdout (the default)')
    .allowUnknownOption();
}

function addInit(program: Command, { env, homeDir, serverEntry, exitWith }: CommandContext): void {
  program
    .command('init')
    .description(
      'ask for the allowed roots, write the settings file and, on a yes, the entry in Claude Desktop',
    )
    .option('--roots <paths>', 'allowed roots, separated by commas, instead of asking')
    .option('--claude-desktop', 'write the entry in Claude Desktop without asking')
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
    .description('tell which rule answers a request, and why; nothing is run (exit 0 allow, 2 ask, 3 deny)')
    .argument('<tool>', 'the tool, such as Bash or Edit')
    .argument('<input>', 'of Bash the command line, else a path, an address or JSON')
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

function addDemo(program: Command, { env, serverEntry, exitWith }: CommandContext): void {
  program
    .command('demo')
    .description(
      'run one task with the real Claude Code and a scripted model: no account, nothing of yours is touched',
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
          ...flags,
          signal: stop.signal,
        }),
      );
    });
}

function addAttach(program: Command, { env, homeDir, exitWith }: CommandContext): void {
  program
    .command('attach')
    .description('put the terminal of a running task into this one; ctrl-] detaches, the task goes on')
    .argument('[task]', 'id of the task, or its beginning; the only one that runs when left out')
    .option('--detach-key <key>', 'the key that detaches', 'ctrl-]')
    .option('--read-only', 'watch only: keys and size of this terminal do not reach the session')
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
  const tasks = program.command('tasks').description('look at tasks and end them, with or without a server');
  const run = tasksRunner(program, context);
  tasks
    .command('list', { isDefault: true })
    .description('all tasks, newest first (the default)')
    .option('--json', JSON_WORDS)
    .action((flags: { json?: boolean }) => run({ what: 'list' }, flags));
  tasks
    .command('show')
    .description('one task: its record, what it asks, its last output')
    .argument('[task]', 'id of the task, or its beginning; the only one that runs when left out')
    .option('--json', JSON_WORDS)
    .action((task: string | undefined, flags: { json?: boolean }) => run({ what: 'show', task }, flags));
  tasks
    .command('follow')
    .description('its readable log as it grows, to its end')
    .argument('[task]', 'id of the task, or its beginning')
    .action((task: string | undefined) => run({ what: 'follow', task }));
  tasks
    .command('kill')
    .description('end a task and everything that it started')
    .argument('<task>', 'id of the task, or its beginning')
    .option('--reason <words>', 'why, for its record')
    .option('--json', JSON_WORDS)
    .action((task: string, flags: { json?: boolean; reason?: string }) =>
      run({ what: 'kill', task, reason: flags.reason }, flags),
    );
  tasks
    .command('prune')
    .description('remove finished tasks from the state directory; never one that runs')
    .option('--keep <count>', 'how many of the newest stay; task_history_size when left out', wholeNumber)
    .option('--json', JSON_WORDS)
    .action((flags: { json?: boolean; keep?: number }) => run({ what: 'prune', keep: flags.keep }, flags));
}

type RunTasks = (wish: TasksWish, flags?: { json?: boolean }) => Promise<void>;

function tasksRunner(program: Command, { env, homeDir, exitWith }: CommandContext): RunTasks {
  return async (wish, flags = {}) => {
    const { runTasks } = await import('./tasks.js');
    exitWith(
      await runTasks(wish, {
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
    `'${text.slice(0, 40)}' is no whole number.`,
    'Give one from 0 to 99999.',
  );
}

/** Questions need a terminal on both sides; without one the flags must say it all. */
async function initIo(): Promise<InitIo> {
  const hasTerminal = process.stdin.isTTY && process.stdout.isTTY;
  return {
    write: (text) => void process.stdout.write(`${text}\n`),
    writeError: (text) => void process.stderr.write(`${text}\n`),
    questions: hasTerminal ? await (await import('./init/clack-questions.js')).clackQuestions() : undefined,
  };
}
