// Pure: converts nodes of the parser to the bridge's own types.
import type { Assignment, Redirection, Word } from 'unbash';
import type { ShellPart, ShellRedirect, ShellWord } from './shell-part.js';
import { literalWord, readWord } from './shell-word.js';

/** A word of a command, or an assignment of `export` or a similar builtin. */
export function readArgument(argument: Word | Assignment): ShellWord {
  if (argument.type === 'Word') return readWord(argument);
  // `export A=b` becomes one word.
  return argument.value.type === 'Word' && readWord(argument.value).kind === 'literal'
    ? literalWord(`${argument.name}${argument.append === true ? '+' : ''}=${readWord(argument.value).value}`)
    : { ...literalWord(argument.text), kind: 'unknown' };
}

/** The use of a redirection and its target. */
export function readRedirect(redirect: Redirection): ShellRedirect {
  if (redirect.type === 'HereDoc') return { use: 'text', target: undefined };
  const target = redirect.target === undefined ? undefined : readWord(redirect.target);
  if (redirect.type === 'HereString') return { use: 'text', target };
  const { operator } = redirect;
  const isCopy =
    (operator === '<&' || operator === '>&') &&
    target?.kind === 'literal' &&
    /^(\d+-?|-)$/.test(target.value);
  if (isCopy) return { use: 'copy', target };
  return { use: operator === '<' || operator === '<&' ? 'read' : 'write', target };
}

/** A command of which only the text is known. */
export function opaquePart(text: string, folders: readonly string[] | undefined): ShellPart {
  return {
    text,
    assignments: [],
    words: [],
    redirects: [],
    folders,
    nested: [],
    isOpaque: true,
  };
}

/** The words as written in the line. */
export function wordsText(words: readonly ShellWord[]): string {
  return words.map((word) => word.text).join(' ');
}
