// Pure: which allow rule covers a plain command.
import type { PlainCommand, PlainWord } from './shell/plain-line.js';
import { evaluators, keywords } from './shell/shell-commands.js';
import type { CommandPattern, UserRule } from './user-rules.js';
import { ANY_TEXT, canMatch } from './wildcard.js';

/** Characters that need no quotes: a word of these looks the same with and without. */
const UNQUOTED = /^[\w@%+=:,./^~-]+$/;
/** A line with one of these may be another line in another folder. */
const DEPENDS_ON_FILES = /[*?[]/;

/** The rule that is this line, letter for letter. The person who wrote it has seen all of it. */
export function exactRule(rules: readonly UserRule[], line: string): UserRule | undefined {
  return rules.find(
    ({ command }) =>
      command !== undefined && !hasStar(command) && command.text === line && !DEPENDS_ON_FILES.test(line),
  );
}

/**
 * The first rule that covers the command, whatever files exist when it runs. A rule names its program; its `*` covers neither
 * keywords of the shell nor commands of the shell that evaluate their arguments, and names of files only where any arguments may stand.
 */
export function coveringRule(rules: readonly UserRule[], { words }: PlainCommand): UserRule | undefined {
  const [name] = words;
  if (name === undefined || name.isGlob || name.value.includes('=') || keywords.has(name.value))
    return undefined;
  const glob = words.findIndex((word) => word.isGlob);
  const text = [...words.map(shown).join(' ')];
  const literalChars = glob === -1 ? Infinity : words.slice(0, glob).map(shown).join(' ').length;
  return rules.find(({ command }) => {
    if (command === undefined) return false;
    const { tokens, bareTokens, spelledChars } = command;
    if (spelledChars === undefined) return glob === -1 && canMatch(tokens, text);
    if (evaluators.has(name.value) || !tokens.slice(0, spelledChars).includes(' ')) return false;
    if (glob !== -1 && (bareTokens === undefined || literalChars < spelledChars - 1)) return false;
    return canMatch(tokens, text) || (bareTokens !== undefined && canMatch(bareTokens, text));
  });
}

function hasStar({ tokens }: CommandPattern): boolean {
  return tokens.includes(ANY_TEXT);
}

function shown({ value, isGlob }: PlainWord): string {
  return isGlob || UNQUOTED.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}
