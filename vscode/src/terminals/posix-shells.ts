import { basename } from 'node:path';

/** Shells with which the editor reports an empty line as a command. */
const ANSWERS_EMPTY_LINE = new Set(['bash', 'zsh']);

/** Whether the editor reports the end of an empty line that is typed into this shell. */
export function answersEmptyLine(shell: string): boolean {
  return ANSWERS_EMPTY_LINE.has(basename(shell));
}
