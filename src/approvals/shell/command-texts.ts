// Pure: the texts of a command that deny and ask rules are matched against.
import { commandName, gitCommandAt } from './command-runs.js';
import type { ShellPart } from './shell-part.js';
import { ANY_TEXT, type Token } from '../wildcard.js';

/**
 * Every spelling of the command that a deny or ask rule may match: as written, without quotes, without assignments, the program
 * without its folder and in lower case, git without its options. Unknown pieces are `ANY_TEXT`.
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

/** True when no piece of the text is unknown. */
export function isKnown(tokens: readonly Token[]): boolean {
  return !tokens.includes(ANY_TEXT);
}

function joined(words: readonly (readonly Token[])[]): Token[] {
  return words.flatMap((tokens, index) => (index === 0 ? [...tokens] : [' ', ...tokens]));
}
