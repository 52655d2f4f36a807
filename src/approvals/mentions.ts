// Pure: whether the text of a command mentions what a rule is about. It reads no shell: a rule reminds, it is no wall.
import { plainPath } from '../projects/name-list.js';
import type { RuleRow } from './modes.js';
import { parsePermissionRule, type PermissionRule } from './permission-rule.js';

/** Shorter names are parts of many words: they count together with the name before them. */
const MIN_NAME_CHARS = 3;

/** The first of the rules with one of these verdicts that the text mentions. */
export function mentionedRule(
  text: string,
  rules: readonly RuleRow[],
  verdicts: readonly RuleRow['verdict'][],
): RuleRow | undefined {
  // A shell joins what stands on both sides of quotes and backslashes.
  const texts = [text, text.replace(/[\\'"]/g, '')].map(plainPath);
  return rules.find((row) => {
    const read = parsePermissionRule(row.rule);
    const words = verdicts.includes(row.verdict) && 'rule' in read ? wordsOf(read.rule) : [];
    return words.length > 0 && words.every((word) => texts.some((one) => holds(one, plainPath(word))));
  });
}

/** The words that a command must hold, all of them, to mention the rule; none for a rule that is about no command, file or host. */
function wordsOf(rule: PermissionRule): readonly string[] {
  switch (rule.kind) {
    case 'command':
      return rule.pattern
        .split(/(?<!\\)\*/)
        .flatMap((text) => text.replace(/\\([\\*])/g, '$1').split(/\s+/))
        .filter((word) => /[\p{L}\p{N}]/u.test(word));
    case 'path':
      return literalName(rule.plain);
    case 'domain':
      return [rule.host.replace(/^\*\./, '')];
    case 'tool':
    case 'named':
      return [];
  }
}

/** The last name of the pattern without a wildcard, with as many before it as it needs to be told from other words. */
function literalName(pattern: string): readonly string[] {
  const names = pattern.split('/').filter((name) => !['', '.', '~', '*', '**'].includes(name));
  let found = '';
  for (const name of names.reverse()) {
    const [literal = ''] = name.split(/[*?]+/).toSorted((one, other) => other.length - one.length);
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
