import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { expandHome } from './home-path.js';

type Split = { readonly words: readonly string[] } | { readonly error: string };

/**
 * The program and its arguments. A text is split at white space, with '…', "…" and \ as a shell reads them and nothing
 * else of a shell, unless it is the absolute path of an existing file. Throws CONFIG_ERROR for a text that cannot be split.
 */
export function commandWords(command: string | readonly string[]): string[] {
  const split = splitCommand(command);
  if ('words' in split) return [...split.words];
  throw new BridgeError(
    'CONFIG_ERROR',
    `claude_command: expected ${split.error}`,
    'Correct the setting claude_command.',
  );
}

/** What a command should have been, or undefined for one that can be started. */
export function commandError(command: string | readonly string[]): string | undefined {
  const split = splitCommand(command);
  if ('error' in split) return split.error;
  const program = split.words[0];
  if (program === undefined || program === '') return 'a command that names a program';
  if (split.words.some((word) => word.includes('\0'))) return 'a command without NUL characters';
  if (program.startsWith('-')) return 'a program as the first word, not an option';
  // A relative program would be looked up in whatever folder a task runs in: an untrusted checkout could bring its own.
  if (program.startsWith('~') || (program.includes('/') && !isAbsolute(program))) {
    return 'a program name to find on PATH, or an absolute path, or one that begins with ~/';
  }
  return undefined;
}

/** The command with `~/` of its program expanded; then it is a list, as the home folder may hold spaces. */
export function expandCommand(
  command: string | readonly string[],
  homeDir: string,
): string | readonly string[] {
  if (typeof command === 'string') {
    if (!command.startsWith('~/')) return command;
    const whole = expandHome(command, homeDir);
    if (isFile(whole)) return [whole];
  }
  const split = splitCommand(command);
  if ('error' in split) return command;
  return split.words.map((word, index) => (index === 0 ? expandHome(word, homeDir) : word));
}

function splitCommand(command: string | readonly string[]): Split {
  if (typeof command !== 'string') return { words: command };
  if (isAbsolute(command) && isFile(command)) return { words: [command] };
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let at = 0; at < command.length; at++) {
    const char = command.charAt(at);
    if (char === '\\' && quote !== "'") {
      const next = command.charAt(at + 1);
      if (next === '') return { error: 'a character after the last \\' };
      // Between double quotes a backslash is special only before these two, as in a shell.
      const special = quote === undefined || next === '"' || next === '\\';
      word = (word ?? '') + (special ? next : char + next);
      at++;
    } else if (char === quote) {
      quote = undefined;
    } else if (quote === undefined && (char === '"' || char === "'")) {
      quote = char;
      word ??= '';
    } else if (quote === undefined && /\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + char;
    }
  }
  if (quote !== undefined) return { error: `a closing ${quote}` };
  if (word !== undefined) words.push(word);
  return { words };
}

function isFile(path: string): boolean {
  if (path.includes('\0')) return false;
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch (thrown) {
    // Too long a name, a file in place of a folder, no permission: none of these is a program with a space in its name.
    if (systemCodeOf(thrown) !== undefined) return false;
    throw thrown;
  }
}
