import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { systemCodeOf } from '../base/errors.js';
import { expandHome } from './places.js';

/** The program and its arguments: a list as it is, and a text split at white space, unless it is the absolute path of an existing file. */
export function commandWords(command: string | readonly string[]): string[] {
  if (typeof command !== 'string') return [...command];
  return isFile(command) ? [command] : command.split(/\s+/).filter((word) => word !== '');
}

/** What a command should have been, or undefined for one that can be started. */
export function commandError(command: string | readonly string[]): string | undefined {
  if (typeof command === 'string' && !isFile(command) && /['"\\]/.test(command))
    return 'a list of words, such as ["/opt/my tools/claude", "--verbose"]: quotes and \\ mean nothing in a text';
  const words = commandWords(command);
  const [program = ''] = words;
  if (program === '') return 'a command that names a program';
  if (words.some((word) => word.includes('\0'))) return 'a command without NUL characters';
  if (program.startsWith('-')) return 'a program as the first word, not an option';
  // A relative program would be looked up in whatever folder a task runs in: an untrusted checkout could bring its own.
  if (program.startsWith('~') || (program.includes('/') && !isAbsolute(program)))
    return 'a program name to find on PATH, or an absolute path, or one that begins with ~/';
  return undefined;
}

/** The command with `~/` of its program expanded; then it is a list, as the home folder may hold spaces. */
export function expandCommand(
  command: string | readonly string[],
  homeDir: string,
): string | readonly string[] {
  if (typeof command === 'string' && !command.startsWith('~/')) return command;
  const whole = typeof command === 'string' ? expandHome(command, homeDir) : '';
  if (isFile(whole)) return [whole];
  return commandWords(command).map((word, index) => (index === 0 ? expandHome(word, homeDir) : word));
}

function isFile(path: string): boolean {
  if (!isAbsolute(path) || path.includes('\0')) return false;
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch (thrown) {
    // Too long a name, a file in place of a folder, no permission: none of these is a program with a space in its name.
    if (systemCodeOf(thrown) !== undefined) return false;
    throw thrown;
  }
}
