import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError } from 'commander';
import { doctorSentence, isForDoctor } from '../base/doctor-hint.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { expandHome } from '../config/home-path.js';
import { addBoard } from './add-board.js';
import { addDoctor } from './add-doctor.js';
import { addInit } from './add-init.js';
import { addNative } from './add-native.js';
import { addTrust } from './add-trust.js';
import { addRun } from './add-run.js';
import { addTasks, DEFAULT_LIST } from './add-tasks.js';
import { configPath, type CommandContext } from './command-context.js';
import { exitCodeOfError, exitCodes } from './exit-codes.js';
import { inCommands } from './in-commands.js';
import { ownCommand } from './own-command.js';
import { StandardOutput } from './standard-output.js';
import { VERSION } from '../base/version.js';

/** Runs the command that `argv` names and resolves with its exit code, one of `exitCodes`. Errors are printed to stderr. */
export async function runProgram(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  let exitCode = 0;
  const output = new StandardOutput(process.stdout);
  const homeDir = env['HOME'] ?? homedir();
  const context: CommandContext = {
    env,
    homeDir,
    command: await ownCommand(argv[1] ?? '', env['PATH'], homeDir),
    serverEntry: fileURLToPath(new URL('./main.js', import.meta.url)),
    keeperEntry: fileURLToPath(new URL('./keeper.js', import.meta.url)),
    boardEntry: fileURLToPath(new URL('./board.js', import.meta.url)),
    output,
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
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error:/, 'INVALID_ARGUMENTS:')) })
    .showHelpAfterError(`Run ${context.command} --help for the commands and their options.`)
    .exitOverride();
  for (const add of [
    addServe,
    addRun,
    addBoard,
    addAttach,
    addTasks,
    addNative,
    addInit,
    addTrust,
    addDoctor,
    addDemo,
    addVersion,
  ])
    add(program, context);
  nameHelp(program, context.command);
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    // Commander has printed its own errors; help and version end with code 0.
    if (error instanceof CommanderError) {
      if (error.exitCode !== 0) return exitCodes.badCommandLine;
    } else {
      const text =
        error instanceof BridgeError
          ? `${error.code}: ${error.message}\n${inCommands(error.hint, context.command)}${doctorLine(error, context.command)}`
          : messageOf(error);
      process.stderr.write(`${text}\n`);
      return exitCodeOfError(error);
    }
  }
  const failure = await output.end();
  if (failure === undefined) return exitCode;
  process.stderr.write(`The output could not be written: ${failure}\n`);
  return exitCodes.outputLost;
}

function doctorLine({ code }: BridgeError, command: string): string {
  return isForDoctor(code) ? `\n${doctorSentence(command)}` : '';
}

/** After an error, each command names its own help. */
function nameHelp(parent: Command, words: string): void {
  for (const command of parent.commands) {
    // The default of its parent has a name that nobody types.
    const own = command.name() === DEFAULT_LIST ? words : `${words} ${command.name()}`;
    command.showHelpAfterError(`Run ${own} --help for its arguments and options.`);
    nameHelp(command, own);
  }
}

/** For its help; main.ts runs `serve` without loading this file. */
function addServe(program: Command): void {
  program
    .command('serve')
    .description('serve one MCP client over stdin and stdout (the default)')
    .argument('[folders...]', 'folders in which tasks may start, in place of the setting allowed_roots');
}

function addVersion(program: Command, { env, homeDir, serverEntry, exitWith }: CommandContext): void {
  program
    .command('version')
    .description('print the version, and how to update a clone; with --check, ask npm for the newest one')
    .option('--check', 'ask the npm registry whether there is another version')
    .action(async (flags: { check?: boolean }) => {
      const { printVersion } = await import('./version.js');
      const write = (text: string) => void process.stdout.write(`${text}\n`);
      await printVersion({ env, homeDir, serverEntry, write, ...flags });
      exitWith(exitCodes.done);
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

function addAttach(program: Command, { env, homeDir, command, keeperEntry, exitWith }: CommandContext): void {
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
          command,
          keeperEntry,
          configPath: configPath(program),
          env,
          homeDir,
          input: process.stdin,
          output: process.stdout,
        }),
      );
    });
}
