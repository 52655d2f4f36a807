// Pure: which allow rule covers a plain command.
import { readPlainLine, type PlainCommand, type PlainWord } from './shell/plain-line.js';
import { evaluators, keywords } from './shell/shell-commands.js';
import type { CommandPattern, UserRule } from './user-rules.js';
import { ANY_TEXT, canMatch } from './wildcard.js';

/** A word of these characters needs no quotes. */
const UNQUOTED = /^[\w@%+=:,./^~-]+$/;
/** A line with one of these may expand differently in another folder. */
const DEPENDS_ON_FILES = /[*?[]/;

/** The rule that equals this line exactly. The person who wrote it has seen all of it. */
export function exactRule(rules: readonly UserRule[], line: string): UserRule | undefined {
  return rules.find(
    ({ command }) =>
      command !== undefined && !hasStar(command) && command.text === line && !DEPENDS_ON_FILES.test(line),
  );
}

/**
 * The first rule that covers the command, whatever files exist when it runs. The rule must name the program. Its `*` covers no
 * shell keywords and no builtins that evaluate their arguments, and it covers a glob only where any arguments are allowed.
 */
export function coveringRule(rules: readonly UserRule[], { words }: PlainCommand): UserRule | undefined {
  const [name] = words;
  if (name === undefined || name.isGlob || name.value.includes('=') || keywords.has(name.value))
    return undefined;
  const glob = words.findIndex((word) => word.isGlob);
  const text = [...words.map(shown).join(' ')];
  const charsBeforeGlob = glob === -1 ? Infinity : words.slice(0, glob).map(shown).join(' ').length;
  return rules.find(({ command }) => {
    if (command === undefined) return false;
    const { tokens, tokensWithoutStar, literalChars } = command;
    if (literalChars === undefined) return glob === -1 && canMatch(tokens, text);
    if (evaluators.has(name.value) || !tokens.slice(0, literalChars).includes(' ')) return false;
    if (glob !== -1 && (tokensWithoutStar === undefined || charsBeforeGlob < literalChars - 1)) return false;
    return canMatch(tokens, text) || (tokensWithoutStar !== undefined && canMatch(tokensWithoutStar, text));
  });
}

function hasStar({ tokens }: CommandPattern): boolean {
  return tokens.includes(ANY_TEXT);
}

export function shown({ value, isGlob }: PlainWord): string {
  return isGlob || UNQUOTED.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}

/** Whether rules that allow cover the whole line; rules that deny or ask are not looked at. */
export function isCovered(rules: readonly UserRule[], line: string): boolean {
  if (exactRule(rules, line) !== undefined) return true;
  const plain = readPlainLine(line);
  return 'commands' in plain && plain.commands.every((command) => coveringRule(rules, command) !== undefined);
}
