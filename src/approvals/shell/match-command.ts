// Pure: rules of the settings → what they say of a command's texts.
import { isKnown } from './command-texts.js';
import type { CommandPattern, UserRule } from '../user-rules.js';
import { canMatch, type Token } from '../wildcard.js';

export interface Answer {
  readonly verdict: 'allow' | 'deny' | 'ask';
  readonly rule: string;
  readonly reason: string;
  /** Only the run will show whether the rule holds. */
  readonly isDoubt?: true | undefined;
}

type Texts = readonly (readonly Token[])[];

/** The rule about every use of the shell, if there is one. */
export function wholeTool(rules: readonly UserRule[]): Answer | undefined {
  const found = rules.find(({ rule }) => rule.kind === 'tool' && rule.tool === 'Bash');
  return found === undefined ? undefined : answerOf(found);
}

/** The first rule that holds for the command, whatever of it is not known yet. */
export function firstMatch(rules: readonly UserRule[], texts: Texts): Answer | undefined {
  const known = texts.filter(isKnown);
  const found =
    rules.find(({ command }) => command !== undefined && known.some((text) => holds(command, text))) ??
    rules.find(({ command }) => command !== undefined && texts.some((text) => spelledOut(command, text)));
  return found === undefined ? undefined : answerOf(found);
}

/** The first rule that may hold, once the run has shown what is not known yet. */
export function mayMatch(rules: readonly UserRule[], texts: Texts): Answer | undefined {
  const open = texts.filter((text) => !isKnown(text));
  const found = rules.find(
    ({ command }) => command !== undefined && open.some((text) => holds(command, text)),
  );
  if (found === undefined) return undefined;
  const { rule, reason } = found.row;
  return {
    verdict: 'ask',
    rule,
    reason: `only the run will show whether this rule holds: ${reason}`,
    isDoubt: true,
  };
}

function holds({ tokens, bareTokens }: CommandPattern, text: readonly Token[]): boolean {
  return canMatch(tokens, text) || (bareTokens !== undefined && canMatch(bareTokens, text));
}

export function answerOf({ row }: UserRule): Answer {
  return { verdict: row.verdict, rule: row.rule, reason: row.reason };
}

/** The pattern's only star is its end, and the text says all that stands before it: `rm *` and `rm "$x"`. */
function spelledOut({ tokens, spelledChars }: CommandPattern, text: readonly Token[]): boolean {
  if (spelledChars === undefined || spelledChars !== tokens.length - 1) return false;
  return tokens.slice(0, spelledChars).every((token, index) => text[index] === token);
}
