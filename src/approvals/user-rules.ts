// Pure: the rules in the settings, compiled once for a task.
import { parsePermissionRule, type PermissionRule } from './permission-rule.js';
import { BridgeError } from '../base/errors.js';
import { pathPattern, type PathPattern, type PatternBases } from './path-pattern.js';
import { ANY_TEXT, type Token } from './wildcard.js';

/** A rule as written in the settings. */
export interface RuleRow {
  readonly rule: string;
  readonly verdict: 'allow' | 'deny' | 'ask';
  readonly reason: string;
}

export interface CommandPattern {
  readonly tokens: readonly Token[];
  /** The pattern without its final ` *`, which also matches no argument at all; undefined when it has no such end. */
  readonly tokensWithoutStar: readonly Token[] | undefined;
  /** Characters before the first `*`; undefined when the rule has none and matches one exact command. */
  readonly literalChars: number | undefined;
  readonly text: string;
}

export interface UserRule {
  readonly row: RuleRow;
  readonly rule: PermissionRule;
  /** Set for a rule about commands. */
  readonly command?: CommandPattern;
  /** Set for a rule about files. */
  readonly path?: PathPattern;
}

export interface UserRules {
  readonly deny: readonly UserRule[];
  readonly allow: readonly UserRule[];
  readonly ask: readonly UserRule[];
}

/** Compiles the rules. Throws CONFIG_ERROR for an invalid one, although the settings were checked when they were loaded. */
export function compileRules(rows: readonly RuleRow[], bases: PatternBases): UserRules {
  const compiled = rows.map((row) => compile(row, bases));
  const of = (verdict: RuleRow['verdict']): UserRule[] =>
    compiled.filter(({ row }) => row.verdict === verdict);
  return { deny: of('deny'), allow: of('allow'), ask: of('ask') };
}

function compile(row: RuleRow, bases: PatternBases): UserRule {
  const read = parsePermissionRule(row.rule);
  if ('expected' in read) {
    throw new BridgeError(
      'CONFIG_ERROR',
      `The rule ${JSON.stringify(row.rule)} is invalid: expected ${read.expected}.`,
      'Correct the rule in the settings.',
    );
  }
  const { rule } = read;
  if (rule.kind === 'command') return { row, rule, command: commandPattern(rule.pattern) };
  if (rule.kind === 'path') return { row, rule, path: pathPattern(rule.pattern, bases) };
  return { row, rule };
}

function commandPattern(pattern: string): CommandPattern {
  const tokens: Token[] = [];
  let text = '';
  let literalChars: number | undefined;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern.charAt(at);
    const next = pattern.charAt(at + 1);
    if (char === '\\' && (next === '*' || next === '\\')) {
      tokens.push(next);
      text += next;
      at++;
    } else if (char === '*') {
      literalChars ??= tokens.length;
      tokens.push(ANY_TEXT);
    } else {
      tokens.push(char);
      text += char;
    }
  }
  const stars = tokens.filter((token) => token === ANY_TEXT).length;
  // `git diff *` also matches `git diff`: its only star is at the end, after a space.
  const isOpenEnded = stars === 1 && tokens.at(-1) === ANY_TEXT && tokens.at(-2) === ' ';
  return { tokens, tokensWithoutStar: isOpenEnded ? tokens.slice(0, -2) : undefined, literalChars, text };
}
