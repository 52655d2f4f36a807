// Pure: what the parser found, in our words.
import type { Assignment, Redirection, Word } from 'unbash';
import type { Hazard, ShellPart, ShellRedirect, ShellWord } from './shell-part.js';
import { literalWord, readWord } from './shell-word.js';

/** A word of a command, or what `export` and its like assign. */
export function readArgument(argument: Word | Assignment): ShellWord {
  if (argument.type === 'Word') return readWord(argument);
  // `export A=b`: judged by its text, which no rule of ours allows.
  return argument.value.type === 'Word' && readWord(argument.value).kind === 'literal'
    ? literalWord(`${argument.name}${argument.append === true ? '+' : ''}=${readWord(argument.value).value}`)
    : { ...literalWord(argument.text), kind: 'unknown' };
}

/** What a redirection is for, and where it leads. */
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

/** What of a redirection only a person can judge. */
export function redirectHazards(redirect: Redirection): Hazard[] {
  if (redirect.type === 'HereDoc') return [{ why: 'a here-document is its input' }];
  if (redirect.type === 'HereString') return [{ why: 'a here-string is its input' }];
  if (redirect.descriptor?.type === 'FileDescriptorVariable')
    return [{ why: 'a redirection sets a variable' }];
  return redirect.target === undefined ? [{ why: 'a redirection leads nowhere' }] : [];
}

/** A variable that is set before a command changes what that one does. */
export function assignmentHazard(text: string, word: number): Hazard {
  const name = /^[A-Za-z_]\w*/.exec(text)?.[0] ?? text;
  return { why: `it sets ${name} for what runs`, word };
}

/** A command in a command: what it prints becomes part of the line. */
export function substitutionHazards(nested: readonly ShellPart[]): Hazard[] {
  return nested.length === 0 ? [] : [{ why: 'it puts the output of another command in place' }];
}

/** Words of which only the shell knows what they will be. */
export function unknownHazards(words: readonly ShellWord[]): Hazard[] {
  const [name] = words;
  if (name !== undefined && name.kind !== 'literal')
    return [{ why: 'the name of its command is only known when it runs' }];
  const open = words.find((word) => word.kind === 'unknown');
  return open === undefined ? [] : [{ why: `${open.text} is only known when it runs` }];
}

/** A part of which nothing is known but its text. */
export function opaquePart(text: string, folders: readonly string[] | undefined): ShellPart {
  return {
    text,
    assignments: [],
    words: [],
    redirects: [],
    hazards: [{ why: 'what it runs is not known' }],
    folders,
    nested: [],
    isOpaque: true,
  };
}

/** The words as they stand in the line. */
export function wordsText(words: readonly ShellWord[]): string {
  return words.map((word) => word.text).join(' ');
}
