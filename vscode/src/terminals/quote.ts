// Pure.
import { basename } from 'node:path';
import { EditorError } from '../editor-error.js';

const POSIX = new Set(['sh', 'dash', 'ash', 'bash', 'zsh', 'ksh', 'mksh']);
/** Shells that read `$'…'`. */
const WITH_ESCAPES = new Set(['bash', 'zsh']);
const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** A command with its arguments as one line of the shell. Throws NOT_SUPPORTED for a shell that quotes in a way of its own. */
export function withArguments(command: string, args: readonly string[] | undefined, shell: string): string {
  return args === undefined ? command : [command, ...args].map((one) => quoted(one, shell)).join(' ');
}

/**
 * The line to type for a command. Ends of lines and tabs would be keys for the shell's line editor, so such a command is written
 * without them. Throws NOT_SUPPORTED for a shell of which it is not known how.
 */
export function oneLineCommand(line: string, shell: string): string {
  if (!/[\n\t]/.test(line)) return line;
  const name = basename(shell);
  if (WITH_ESCAPES.has(name)) return `eval ${escaped(line)}`;
  throw new EditorError(
    'NOT_SUPPORTED',
    `A command of several lines, or with tabs, cannot be typed into ${name}.`,
    'Send one line, or use bash or zsh.',
  );
}

function quoted(word: string, shell: string): string {
  const name = basename(shell);
  if (POSIX.has(name)) return PLAIN.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
  if (name === 'fish')
    return PLAIN.test(word) ? word : `'${word.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;
  throw new EditorError(
    'NOT_SUPPORTED',
    `It is not known how ${name} quotes arguments.`,
    'Leave out `arguments`, and quote them in `command`.',
  );
}

function escaped(text: string): string {
  const inside = text
    .replaceAll('\\', '\\\\')
    .replaceAll("'", String.raw`\'`)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\t', String.raw`\t`);
  return `$'${inside}'`;
}
