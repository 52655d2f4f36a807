// Pure: matches the rules in the settings against the texts of a command.
import { isKnown } from './command-texts.js';
import type { CommandPattern, UserRule } from '../user-rules.js';
import { canMatch, type Token } from '../wildcard.js';

export interface CommandVerdict {
  readonly verdict: 'allow' | 'deny' | 'ask';
  readonly rule: string;
  readonly reason: string;
  /** Whether the rule applies is known only at run time. */
  readonly isUncertain?: true | undefined;
}

type Texts = readonly (readonly Token[])[];

/** The verdict of the rule about every use of the shell, if there is one. */
export function ruleForAllCommands(rules: readonly UserRule[]): CommandVerdict | undefined {
  const found = rules.find(({ rule }) => rule.kind === 'tool' && rule.tool === 'Bash');
  return found === undefined ? undefined : verdictOf(found);
}

/** The verdict of the first rule that matches the command, whatever its unknown pieces are. */
export function firstMatch(rules: readonly UserRule[], texts: Texts): CommandVerdict | undefined {
  const known = texts.filter(isKnown);
  const found =
    rules.find(({ command }) => command !== undefined && known.some((text) => matches(command, text))) ??
    rules.find(({ command }) => command !== undefined && texts.some((text) => hasPrefix(command, text)));
  return found === undefined ? undefined : verdictOf(found);
}

/** Asks because of the first rule that may match, depending on the unknown pieces. */
export function mayMatch(rules: readonly UserRule[], texts: Texts): CommandVerdict | undefined {
  const incomplete = texts.filter((text) => !isKnown(text));
  const found = rules.find(
    ({ command }) => command !== undefined && incomplete.some((text) => matches(command, text)),
  );
  if (found === undefined) return undefined;
  const { rule, reason } = found.row;
  return {
    verdict: 'ask',
    rule,
    reason: `this rule may apply, depending on values known only at run time: ${reason}`,
    isUncertain: true,
  };
}

function matches({ tokens, tokensWithoutStar }: CommandPattern, text: readonly Token[]): boolean {
  return canMatch(tokens, text) || (tokensWithoutStar !== undefined && canMatch(tokensWithoutStar, text));
}

export function verdictOf({ row }: UserRule): CommandVerdict {
  return { verdict: row.verdict, rule: row.rule, reason: row.reason };
}

/** True when the pattern's only star is at its end and the text begins with everything before it: `rm *` and `rm "$x"`. */
function hasPrefix({ tokens, literalChars }: CommandPattern, text: readonly Token[]): boolean {
  if (literalChars === undefined || literalChars !== tokens.length - 1) return false;
  return tokens.slice(0, literalChars).every((token, index) => text[index] === token);
}
