// Pure.
import { basename } from 'node:path';
import { EditorError } from '../editor-error.js';

/** Shells that read `$'…'`. */
const WITH_ESCAPES = new Set(['bash', 'zsh']);

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

function escaped(text: string): string {
  const inside = text
    .replaceAll('\\', '\\\\')
    .replaceAll("'", String.raw`\'`)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\t', String.raw`\t`);
  return `$'${inside}'`;
}
