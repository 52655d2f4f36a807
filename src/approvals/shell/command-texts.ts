// Pure: the texts of a command that patterns of rules are matched against.
import { commandName, gitCommandAt } from './command-runs.js';
import type { ShellPart } from './shell-part.js';
import { ANY_TEXT, type Token } from '../wildcard.js';

/**
 * Every text by which a deny or ask rule may know the command: as written, with its quotes away, without assignments, its
 * program without a folder and in small letters, git without its options. What is not known is open.
 */
export function strictTexts(part: ShellPart): readonly (readonly Token[])[] {
  if (part.isOpaque) return [[ANY_TEXT]];
  const { words, assignments } = part;
  if (words.length === 0) return assignments.length === 0 ? [] : [[...part.text]];
  const known = joined(words.map((word) => word.tokens));
  const variants = [[...part.text], known, [...assignments.flatMap((text) => [...text, ' ']), ...known]];
  const name = commandName(words);
  if (name !== undefined) {
    const rest = words.slice(1).map((word) => word.tokens);
    for (const one of new Set([name, name.toLowerCase()])) variants.push(joined([[...one], ...rest]));
    if (name.toLowerCase() === 'git')
      variants.push(joined([[...'git'], ...words.slice(gitCommandAt(words)).map((word) => word.tokens)]));
  }
  return variants;
}

/** Whether the text is known to its end. */
export function isKnown(tokens: readonly Token[]): boolean {
  return !tokens.includes(ANY_TEXT);
}

function joined(words: readonly (readonly Token[])[]): Token[] {
  return words.flatMap((tokens, index) => (index === 0 ? [...tokens] : [' ', ...tokens]));
}
