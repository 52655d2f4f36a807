import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError } from 'commander';
import { doctorSentence, isForDoctor, BridgeError, messageOf } from '../base/errors.js';
import { VERSION } from '../base/package.js';
import { addAttach } from './attach/attach.js';
import { addCommand, lookOf, type CommandContext } from './command.js';
import { exitCodeOfError, exitCodes } from './exit-codes.js';
import { addMachines } from './machines/machines.js';
import { addNative } from './native.js';
import { nextLines } from './next-commands.js';
import { ownCommand, withConfig } from './own-command.js';
import { terminalText } from './own-sequences.js';
import { addRun } from './run.js';
import { addBoard, addSetup } from './setup-commands.js';
import { StandardOutput } from './standard-output.js';
import { addTasks } from './tasks.js';
import { fittedLines } from './terminal-text.js';

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
  const root = new Command('claude-code-bridge');
  const program = await ownCommand(argv[1] ?? '', env['PATH'], homeDir);
  const context: CommandContext = {
    ...{ env, homeDir, folder, program, output, errorLook },
    get command() {
      return withConfig(program, this.configPath, homeDir);
    },
    serverEntry: fileURLToPath(new URL('./main.js', import.meta.url)),
    keeperEntry: fileURLToPath(new URL('./keeper.js', import.meta.url)),
    boardEntry: fileURLToPath(new URL('./board.js', import.meta.url)),
    get configPath() {
      return root.opts<{ config?: string }>().config;
    },
    look: lookOf(process.stdout, env),
    // A command is pasted, and never broken.
    say: (line) =>
      void process.stderr.write(
        terminalText(`${line.startsWith(context.command) ? line : fittedLines(line, errorLook)}\n`),
      ),
    ending:
      (run) =>
      async (...given) =>
        void (exitCode = await run(...given)),
  };
  addAll(root, context);
  try {
    await root.parseAsync([...argv]);
  } catch (error) {
    // Commander has printed its own errors; help and version end with code 0.
    if (error instanceof CommanderError) {
      if (error.exitCode !== 0) return exitCodes.badCommandLine;
    } else {
      process.stderr.write(terminalText(errorText(error, context)));
      return exitCodeOfError(error);
    }
  }
  const failure = await output.end();
  if (failure === undefined) return exitCode;
  process.stderr.write(`The output could not be written: ${failure}\n`);
  return exitCodes.outputLost;
}

function addAll(root: Command, context: CommandContext): void {
  const { program } = context;
  root
    .description(
      'An MCP server that runs Claude Code in your projects. Without a command, it serves a client over stdin and stdout.',
    )
    .version(VERSION)
    .option('--config <file>', 'settings file to read')
    .option('--toolsets <names>', 'toolsets to offer, separated by commas, or "all"')
    .configureHelp({ showGlobalOptions: true, minWidthToWrap: FEWEST_HELP_COLUMNS })
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error:/, 'INVALID_ARGUMENTS:')) })
    .showHelpAfterError(`Run ${program} --help for the commands and their options.`)
    .exitOverride();
  // For its help; main.ts runs it without loading this file.
  const serves = 'serve one MCP client over stdin and stdout (the default)';
  addCommand(root, context, 'serve', serves, '', '~/Projects /srv/work').argument(
    '[folders...]',
    'folders in which tasks may start, in place of the setting allowed_roots',
  );
  for (const add of [addRun, addBoard, addAttach, addTasks, addNative, addMachines, addSetup])
    add(root, context);
  const examples = ['run "Fix the failing test."', 'tasks', 'board'].map((words) => `  ${program} ${words}`);
  root.addHelpText('after', `\nExamples:\n${examples.join('\n')}`);
}

/** The message fits the terminal; a hint may hold a command, which is pasted and never broken. */
function errorText(error: unknown, { command, errorLook: look }: CommandContext): string {
  if (!(error instanceof BridgeError)) return `${fittedLines(messageOf(error), look)}\n`;
  const { code, message, next } = error;
  const shown = fittedLines(`${code}: ${message}`, look).replace(code, look.paint('red', code));
  const doctor = isForDoctor(code) ? `\n${doctorSentence(command)}` : '';
  const hint = nextLines(next, command, look).replaceAll('`claude-code-bridge ', `\`${command} `);
  return `${shown}\n${hint}${doctor}\n`;
}
