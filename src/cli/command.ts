import { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import type { Command } from 'commander';
import { BridgeError } from '../base/errors.js';
import { nearestName } from '../base/input.js';
import { oneLine } from '../base/text.js';
import { findEnclosingMarks } from '../os/find-processes.js';
import { insideTaskFault } from '../tasks/task-refusals.js';
import { ownSequence } from './own-sequences.js';
import type { StandardOutput } from './standard-output.js';
import type { Look, Style } from './terminal-text.js';

const SHOWN_CHARS = 40;
const DEFAULT_LIST = 'default-list';
const DEFAULT_COLUMNS = 80;
/** Of bits: a terminal of two colours has one. */
const FEWEST_COLOUR_BITS = 3;

/** What the commands are run with. */
export interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly homeDir: string;
  /** The current folder; undefined when it was removed. */
  readonly folder: string | undefined;
  readonly serverEntry: string;
  readonly keeperEntry: string;
  readonly boardEntry: string;
  /** How a person runs this program. */
  readonly program: string;
  /** The same with these settings, for words about what to do next; known in the action of a command. */
  readonly command: string;
  /** The settings file that the command line names; known in the action of a command. */
  readonly configPath: string | undefined;
  readonly output: StandardOutput;
  /** Of stdout. */
  readonly look: Look;
  /** Of stderr. */
  readonly errorLook: Look;
  /** A line on stderr, as `terminalText`. */
  readonly say: (line: string) => void;
  /** An action that ends the program with the exit code of `run`. */
  readonly ending: <A extends unknown[]>(
    run: (...given: A) => Promise<number>,
  ) => (...given: A) => Promise<void>;
}

/** Adds a command. Its help has the examples, each behind the words of the command, and its errors name that help. */
export function addCommand(
  parent: Command,
  { program }: Pick<CommandContext, 'program'>,
  name: string,
  description: string,
  ...examples: readonly string[]
): Command {
  const words = `${program} ${parent.parent === null ? '' : `${parent.name()} `}${name}`;
  const command = parent
    .command(name)
    .description(description)
    .showHelpAfterError(`Run ${words} --help for its arguments and options.`);
  const lines = examples.map((one) => `\n  ${words} ${one}`.trimEnd());
  return lines.length === 0 ? command : command.addHelpText('after', `\nExamples:${lines.join('')}`);
}

/**
 * Adds what a group of commands does without one of them: its list. `meant`: words that people try for a command, and that command.
 */
export function addDefaultList(
  parent: Command,
  list: (flags: { json?: boolean }, command: Command) => Promise<void>,
  meant: Readonly<Record<string, string>> = {},
): void {
  parent
    .command(DEFAULT_LIST, { isDefault: true, hidden: true })
    .option('--json')
    // A word that no command has gets here too, since commander takes it as an argument of the default command.
    .allowExcessArguments()
    .action((flags: { json?: boolean }, command: Command) => {
      const [word] = command.args;
      if (word === undefined) return list(flags, command);
      const known = parent.commands.map((one) => one.name()).filter((name) => name !== DEFAULT_LIST);
      const near = Object.hasOwn(meant, word) ? meant[word] : nearestName(word, known);
      const suggestion = near === undefined ? '' : `; did you mean ${near}?`;
      return parent.error(
        `error: unknown command '${oneLine(word, SHOWN_CHARS)}' (known: ${known.join(', ')})${suggestion}`,
      );
    });
}

/** How texts are shown on an output: in colours where node would use them (`NO_COLOR`, `FORCE_COLOR`), in lines that fit a terminal. */
export function lookOf(output: NodeJS.WriteStream, env: NodeJS.ProcessEnv): Look {
  const mayColour = output.isTTY || env['FORCE_COLOR'] !== undefined;
  const isColoured = mayColour && WriteStream.prototype.getColorDepth(env) >= FEWEST_COLOUR_BITS;
  return {
    get columns() {
      // It may change. A terminal that does not know its width says 0.
      return output.isTTY ? output.columns || DEFAULT_COLUMNS : undefined;
    },
    paint: (style, text) => (isColoured ? painted(style, text) : text),
    own: ownSequence,
  };
}

function painted(style: Style, text: string): string {
  // Node 20 does not ask the stream, so it is not asked here either.
  const [begin = '', end = ''] = styleText(style, '\n', { validateStream: false }).split('\n');
  return ownSequence(begin) + text + ownSequence(end);
}

/** Reads the value of an option in US dollars, from a cent on. Throws INVALID_ARGUMENTS. */
export function cents(option: string): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : NaN;
    return value >= 0.01 ? value : wrong(`${option} must be a number of US dollars from 0.01 on`, text);
  };
}

/** Reads the value of an option. Throws INVALID_ARGUMENTS. */
export function wholeNumber(option: string, min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    if (value >= min && value <= max) return value;
    return wrong(`${option} must be a whole number from ${min} to ${max}`, text);
  };
}

function wrong(what: string, text: string): never {
  const message = `${what} (got '${oneLine(text, SHOWN_CHARS)}').`;
  throw new BridgeError('INVALID_ARGUMENTS', message, 'Correct the number.');
}

/** The current folder, for a command that names none. Throws PATH_NOT_FOUND when it was removed. */
export function currentFolder(folder: CommandContext['folder']): string {
  if (folder !== undefined) return folder;
  throw new BridgeError(
    'PATH_NOT_FOUND',
    'The current folder was removed, so it is no folder for a task.',
    'Go to the folder of a project with cd, or name it on the command line.',
  );
}

/** For commands that act on tasks. Throws INSIDE_TASK when this process runs inside one; `what` says what was asked. */
export async function requireOutsideTasks(
  env: Readonly<Record<string, string | undefined>>,
  what: string,
): Promise<void> {
  if ((await findEnclosingMarks(env)).length === 0) return;
  throw insideTaskFault(what, 'Run the command in a terminal of your own.');
}

/** Aborted at Ctrl-C. */
export function untilStopped(): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  return stop.signal;
}
