// Pure: whether the text of a command mentions what a rule is about. It reads no shell: a rule reminds, it is no wall.
import { plainPath } from '../projects/name-list.js';
import type { RuleRow } from './modes.js';
import { parsePermissionRule, type PermissionRule } from './permission-rule.js';

/** Shorter names are parts of many words: they count together with the name before them. */
const MIN_NAME_CHARS = 3;
/** A shell joins what stands on both sides of these. */
const JOINERS = /[\\'"]/g;

/** The words that a command must hold, all of them, to mention the rule; undefined for a rule that is about no command, file or host. */
export function mentionOf(rule: PermissionRule): readonly string[] | undefined {
  if (rule.kind === 'command') return literalWords(rule.pattern);
  if (rule.kind === 'path') return literalName(rule.plain);
  if (rule.kind === 'domain') return [rule.host.replace(/^\*\./, '')];
  return undefined;
}

/** The first of the rules that deny or ask, as `verdicts` says, and that the text mentions. */
export function mentionedRule(
  text: string,
  rules: readonly RuleRow[],
  verdicts: readonly RuleRow['verdict'][],
): RuleRow | undefined {
  return rules.find((row) => {
    const read = parsePermissionRule(row.rule);
    return verdicts.includes(row.verdict) && 'rule' in read && mentions(text, mentionOf(read.rule) ?? []);
  });
}

/** Whether the command holds every one of the words. */
export function mentions(command: string, words: readonly string[]): boolean {
  if (words.length === 0) return false;
  const texts = [command, command.replace(JOINERS, '')].map(plainPath);
  return words.every((word) => texts.some((text) => holds(text, plainPath(word))));
}

function literalWords(pattern: string): readonly string[] {
  return pattern
    .split(/(?<!\\)\*/)
    .flatMap((text) => text.replace(/\\([\\*])/g, '$1').split(/\s+/))
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
}

/** The last name of the pattern without a wildcard, with as many before it as it needs to be told from other words. */
function literalName(pattern: string): readonly string[] {
  const names = pattern.split('/').filter((name) => !['', '.', '~', '*', '**'].includes(name));
  let found = '';
  for (const name of names.reverse()) {
    const literal = name
      .split(/[*?]+/)
      .reduce((longest, part) => (part.length > longest.length ? part : longest), '');
    if (literal === '' || (found !== '' && literal !== name)) break;
    found = found === '' ? literal : `${literal}/${found}`;
    if (found.length >= MIN_NAME_CHARS) break;
  }
  return found === '' ? [] : [found];
}

/** Not as a part of a longer word. */
function holds(text: string, word: string): boolean {
  const isLetter = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}_]/u.test(char);
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const isCutBefore = isLetter(word[0]) && isLetter(text[at - 1]);
    const isCutAfter = isLetter(word.at(-1)) && isLetter(text[at + word.length]);
    if (!isCutBefore && !isCutAfter) return true;
  }
  return false;
}
