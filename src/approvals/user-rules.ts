// Pure: the rules of the settings, compiled once for a task.
import { readPermissionRule, type PermissionRule } from './permission-rule.js';
import { BridgeError } from '../base/errors.js';
import { pathPattern, type PathPattern, type PatternPlaces } from './path-pattern.js';
import { ANY_TEXT, type Token } from './wildcard.js';

/** A rule as the settings hold it. */
export interface RuleRow {
  readonly rule: string;
  readonly verdict: 'allow' | 'deny' | 'ask';
  readonly reason: string;
}

export interface CommandPattern {
  readonly tokens: readonly Token[];
  /** Without the ` *` at its end, which stands for no argument at all, too. */
  readonly bareTokens: readonly Token[] | undefined;
  /** Characters before the first `*`; undefined when the rule has none and is one command, letter for letter. */
  readonly spelledChars: number | undefined;
  readonly text: string;
}

export interface UserRule {
  readonly row: RuleRow;
  readonly rule: PermissionRule;
  /** Of a rule about commands. */
  readonly command?: CommandPattern;
  /** Of a rule about files. */
  readonly path?: PathPattern;
}

export interface UserRules {
  readonly deny: readonly UserRule[];
  readonly allow: readonly UserRule[];
  readonly ask: readonly UserRule[];
}

/** Compiles the rules. Throws CONFIG_ERROR for one that cannot be read: the settings were checked when they were loaded. */
export function compileRules(rows: readonly RuleRow[], places: PatternPlaces): UserRules {
  const compiled = rows.map((row) => compile(row, places));
  const of = (verdict: RuleRow['verdict']): UserRule[] =>
    compiled.filter(({ row }) => row.verdict === verdict);
  return { deny: of('deny'), allow: of('allow'), ask: of('ask') };
}

function compile(row: RuleRow, places: PatternPlaces): UserRule {
  const read = readPermissionRule(row.rule);
  if ('fault' in read) {
    throw new BridgeError(
      'CONFIG_ERROR',
      `The rule ${JSON.stringify(row.rule)} cannot be read: expected ${read.fault}.`,
      'Correct the rule in the settings.',
    );
  }
  const { rule } = read;
  if (rule.kind === 'command') return { row, rule, command: commandPattern(rule.pattern) };
  if (rule.kind === 'path') return { row, rule, path: pathPattern(rule.pattern, places) };
  return { row, rule };
}

function commandPattern(pattern: string): CommandPattern {
  const tokens: Token[] = [];
  let text = '';
  let spelledChars: number | undefined;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern.charAt(at);
    const next = pattern.charAt(at + 1);
    if (char === '\\' && (next === '*' || next === '\\')) {
      tokens.push(next);
      text += next;
      at++;
    } else if (char === '*') {
      spelledChars ??= tokens.length;
      tokens.push(ANY_TEXT);
    } else {
      tokens.push(char);
      text += char;
    }
  }
  const stars = tokens.filter((token) => token === ANY_TEXT).length;
  // Only a star that is the sole one, behind a space: `git diff *` is also `git diff`.
  const isOpenEnded = stars === 1 && tokens.at(-1) === ANY_TEXT && tokens.at(-2) === ' ';
  return { tokens, bareTokens: isOpenEnded ? tokens.slice(0, -2) : undefined, spelledChars, text };
}
