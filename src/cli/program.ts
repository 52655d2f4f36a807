import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError } from 'commander';
import { doctorSentence, isForDoctor, BridgeError, messageOf } from '../base/errors.js';
import { addCommands, addSetup } from './commands.js';
import { lookOf, type CommandContext } from './command-context.js';
import { exitCodeOfError, exitCodes } from './exit-codes.js';
import { nextLines } from './next-commands.js';
import { ownCommand, withConfig } from './own-command.js';
import { StandardOutput } from './standard-output.js';
import { addNative, addTasks } from './tasks-commands.js';
import { fittedLines } from './terminal-text.js';
import { VERSION } from '../base/package.js';

/** With less room, descriptions are not broken at words. */
const FEWEST_HELP_COLUMNS = 20;

/**
 * Runs the command that `argv` names and resolves with its exit code, one of `exitCodes`. Errors are printed to stderr. `folder`: the current
 * one; undefined when it was removed.
 */
export async function runProgram(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  folder: string | undefined,
): Promise<number> {
  let exitCode = 0;
  const output = new StandardOutput(process.stdout);
  const homeDir = env['HOME'] ?? homedir();
  const errorLook = lookOf(process.stderr, env);
  const program = new Command('claude-code-bridge');
  const command = await ownCommand(argv[1] ?? '', env['PATH'], homeDir);
  const context: CommandContext = {
    env,
    homeDir,
    folder,
    get command() {
      return withConfig(command, this.configPath, homeDir);
    },
    serverEntry: fileURLToPath(new URL('./main.js', import.meta.url)),
    keeperEntry: fileURLToPath(new URL('./keeper.js', import.meta.url)),
    boardEntry: fileURLToPath(new URL('./board.js', import.meta.url)),
    get configPath() {
      return program.opts<{ config?: string }>().config;
    },
    output,
    look: lookOf(process.stdout, env),
    // A command is pasted, and never broken.
    say: (line) =>
      void process.stderr.write(
        `${line.startsWith(context.command) ? line : fittedLines(line, errorLook)}\n`,
      ),
    exitWith: (code) => void (exitCode = code),
  };
  program
    .description(
      'An MCP server that runs Claude Code in your projects. Without a command, it serves a client over stdin and stdout.',
    )
    .version(VERSION)
    .option('--config <file>', 'settings file to read')
    .option('--toolsets <names>', 'toolsets to offer, separated by commas, or "all"')
    .configureHelp({ showGlobalOptions: true, minWidthToWrap: FEWEST_HELP_COLUMNS })
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error:/, 'INVALID_ARGUMENTS:')) })
    .showHelpAfterError(`Run ${command} --help for the commands and their options.`)
    .exitOverride();
  addCommands(program, command, context);
  addTasks(program, command, context);
  addNative(program, command, context);
  addSetup(program, command, context);
  const examples = ['run "Fix the failing test."', 'tasks', 'board'].map((words) => `  ${command} ${words}`);
  program.addHelpText('after', `\nExamples:\n${examples.join('\n')}`);
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    // Commander has printed its own errors; help and version end with code 0.
    if (error instanceof CommanderError) {
      if (error.exitCode !== 0) return exitCodes.badCommandLine;
    } else {
      process.stderr.write(errorText(error, context));
      return exitCodeOfError(error);
    }
  }
  const failure = await output.end();
  if (failure === undefined) return exitCode;
  process.stderr.write(`The output could not be written: ${failure}\n`);
  return exitCodes.outputLost;
}

/** The message fits the terminal; a hint may hold a command, which is pasted and never broken. */
function errorText(error: unknown, { command, env }: CommandContext): string {
  const look = lookOf(process.stderr, env);
  if (!(error instanceof BridgeError)) return `${fittedLines(messageOf(error), look)}\n`;
  const { code, message, next } = error;
  const shown = fittedLines(`${code}: ${message}`, look).replace(code, look.paint('red', code));
  const doctor = isForDoctor(code) ? `\n${doctorSentence(command)}` : '';
  const hint = nextLines(next, command, look).replaceAll('`claude-code-bridge ', `\`${command} `);
  return `${shown}\n${hint}${doctor}\n`;
}
