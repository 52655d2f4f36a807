import { pathsOf } from './command-paths.js';
import { strictTexts } from './command-texts.js';
import { coveringRule, exactRule } from '../covering-rule.js';
import type { LineRequest, LineVerdict, PartVerdict } from './line-verdict.js';
import { verdictOf, firstMatch, mayMatch, ruleForAllCommands, type CommandVerdict } from './match-command.js';
import type { PathLookup } from '../path-lookup.js';
import { readPlainLine, type PlainCommand } from './plain-line.js';
import { readShellLine } from './read-shell-line.js';
import type { ShellLine, ShellPart, ShellWord } from './shell-part.js';
import { literalWord } from './shell-word.js';
import type { UserRule, UserRules } from '../user-rules.js';

const BY_AUTO: CommandVerdict = {
  verdict: 'allow',
  rule: 'auto-permission',
  reason: 'mode auto allows what no rule denies',
};
const NO_COMMANDS: ShellLine = { parts: [], problems: [] };

/**
 * Checks a shell line against the rules. Deny and ask rules apply to every command found in the line; if parts of it cannot be
 * read, the verdict is to ask. Allow rules apply only to lines of plain words, and only if they cover each of the commands.
 * Otherwise the mode decides: `auto` allows the line, `cautious` asks.
 */
export async function checkShellLine(
  request: LineRequest,
  rules: UserRules,
  lookup: PathLookup,
): Promise<LineVerdict> {
  return new LineChecker(request, rules, lookup).check();
}

class LineChecker {
  readonly #request: LineRequest;
  readonly #rules: UserRules;
  readonly #lookup: PathLookup;
  readonly #parts: PartVerdict[] = [];

  constructor(request: LineRequest, rules: UserRules, lookup: PathLookup) {
    this.#request = request;
    this.#rules = rules;
    this.#lookup = lookup;
  }

  async check(): Promise<LineVerdict> {
    const { deny, allow, ask } = this.#rules;
    const denied = ruleForAllCommands(deny);
    if (denied !== undefined) return { ...denied, parts: [] };
    const allowAll = ruleForAllCommands(allow);
    const strict = [...deny, ...(allowAll === undefined ? ask : [])].filter(
      ({ command, path }) => command !== undefined || path !== undefined,
    );
    const { line, projectPath, folder } = this.#request;
    const read = strict.length === 0 ? NO_COMMANDS : await readShellLine(line, folder ?? projectPath);
    for (const part of read.parts) await this.#walk(part, 0, allowAll);
    const verdict = this.#strictest(read, strict) ?? allowAll ?? this.#allowed() ?? this.#otherwise();
    return { ...verdict, parts: this.#parts };
  }

  /** The verdict when a rule denies a command of the line, or may apply to one. */
  #strictest({ problems }: ShellLine, strict: readonly UserRule[]): CommandVerdict | undefined {
    const denied =
      firstMatch(this.#rules.deny, [[...this.#request.line]]) ??
      this.#parts.find(({ verdict }) => verdict === 'deny');
    if (denied !== undefined) return withoutUncertainty(denied);
    const unseen = strict.find(({ command }) => command !== undefined);
    if (unseen !== undefined && problems.length > 0) {
      return {
        verdict: 'ask',
        rule: unseen.row.rule,
        reason: `this rule may or may not apply: ${problems.join('; ')}`,
      };
    }
    const uncertain = this.#parts.find(({ isDoubt, verdict }) => isDoubt === true && verdict === 'ask');
    return uncertain === undefined ? undefined : withoutUncertainty(uncertain);
  }

  /** The verdict when rules allow the line as written, or each of its commands. */
  #allowed(): CommandVerdict | undefined {
    const exact = exactRule(this.#rules.allow, this.#request.line);
    if (exact !== undefined) return verdictOf(exact);
    const plain = readPlainLine(this.#request.line);
    if ('reason' in plain) return undefined;
    const found = plain.commands.map((command) => ({ command, rule: this.#covering(command) }));
    if (this.#parts.length === 0)
      this.#parts.push(
        ...found.map(({ command, rule }) => ({ part: command.text, depth: 0, ...(rule ?? this.#byMode()) })),
      );
    const [first] = found;
    if (first?.rule === undefined || found.some(({ rule }) => rule === undefined)) return undefined;
    const names = new Set(found.map(({ rule }) => rule?.rule));
    return { ...first.rule, rule: [...names].join(', ') };
  }

  /** The verdict when no rule covers the whole line. */
  #otherwise(): CommandVerdict {
    const { ask, allow } = this.#rules;
    const asked =
      this.#parts.find(({ verdict, rule }) => verdict === 'ask' && rule !== 'no-rule') ??
      firstMatch(ask, [[...this.#request.line]]) ??
      ruleForAllCommands(ask);
    if (asked !== undefined) return withoutUncertainty(asked);
    if (this.#request.mode === 'auto') return BY_AUTO;
    const plain = allow.some(({ command }) => command !== undefined)
      ? readPlainLine(this.#request.line)
      : undefined;
    if (plain !== undefined && 'reason' in plain)
      return { verdict: 'ask', rule: 'no-rule', reason: plain.reason };
    return withoutUncertainty(this.#parts.find(({ verdict }) => verdict === 'ask') ?? this.#byMode());
  }

  #byMode(): CommandVerdict {
    if (this.#request.mode === 'auto') return BY_AUTO;
    return { verdict: 'ask', rule: 'no-rule', reason: 'no rule allows this command' };
  }

  #covering(command: PlainCommand): CommandVerdict | undefined {
    const rule = coveringRule(this.#rules.allow, command);
    return rule === undefined ? undefined : verdictOf(rule);
  }

  async #walk(part: ShellPart, depth: number, allowAll: CommandVerdict | undefined): Promise<void> {
    const at = this.#parts.length;
    const verdict = await this.#part(part, allowAll);
    this.#parts.push({ part: part.text, ...verdict, depth });
    for (const nested of part.nested) await this.#walk(nested, depth + 1, allowAll);
    // A rule that allows a command also allows the commands that it runs, unless a rule denies them.
    if (verdict.verdict !== 'allow' || verdict.rule === BY_AUTO.rule) return;
    const inner = this.#parts.slice(at + 1);
    const settled = inner.map((one) =>
      one.verdict === 'ask' && one.isDoubt !== true ? { ...one, ...verdict } : one,
    );
    this.#parts.splice(at + 1, settled.length, ...settled);
  }

  async #part(part: ShellPart, allowAll: CommandVerdict | undefined): Promise<CommandVerdict> {
    const { deny, ask } = this.#rules;
    const texts = strictTexts(part);
    return (
      firstMatch(deny, texts) ??
      (await this.#pathMatch(deny, part)) ??
      mayMatch(deny, texts) ??
      allowAll ??
      this.#coveredPart(part) ??
      firstMatch(ask, texts) ??
      (await this.#pathMatch(ask, part)) ??
      mayMatch(ask, texts) ??
      ruleForAllCommands(ask) ??
      this.#byMode()
    );
  }

  #coveredPart({ text, assignments, redirects, isOpaque }: ShellPart): CommandVerdict | undefined {
    if (isOpaque || assignments.length > 0 || redirects.length > 0) return undefined;
    const plain = readPlainLine(text);
    const [command, more] = 'reason' in plain ? [] : plain.commands;
    return command === undefined || more !== undefined ? undefined : this.#covering(command);
  }

  /**
   * Finds a rule about a file that the command names, as in `cat secrets/key`. Whether a command reads or writes a named file is
   * unknown, so rules about edits apply, too.
   */
  async #pathMatch(rules: readonly UserRule[], part: ShellPart): Promise<CommandVerdict | undefined> {
    const found = rules.filter(({ path }) => path !== undefined);
    if (found.length === 0) return undefined;
    const named = [
      ...part.words.slice(1).flatMap((word) => pathsIn(word).map((one) => ({ word: one, writes: true }))),
      ...part.redirects.flatMap(({ use, target }) =>
        target === undefined ? [] : [{ word: target, writes: use === 'write' }],
      ),
    ];
    for (const { word, writes } of named) {
      const paths = (await pathsOf(word, part.folders, this.#lookup)) ?? [];
      const hit = found.find(({ rule, path }) => {
        const counts = rule.kind === 'path' && (rule.access === 'read' || writes);
        return counts && paths.some((one) => path?.(one) === true);
      });
      if (hit !== undefined) return verdictOf(hit);
    }
    return undefined;
  }
}

/** The word itself as a path, and the value after an option or `=` in it. */
function pathsIn(word: ShellWord): ShellWord[] {
  if (word.kind !== 'literal' || !word.value.startsWith('-')) {
    const sign = word.kind === 'literal' ? word.value.indexOf('=') : -1;
    return sign === -1 ? [word] : [word, literalWord(word.value.slice(sign + 1))];
  }
  const sign = word.value.indexOf('=');
  const value = sign === -1 ? word.value.slice(2) : word.value.slice(sign + 1);
  return value === '' ? [] : [literalWord(value)];
}

function withoutUncertainty({ verdict, rule, reason }: CommandVerdict): CommandVerdict {
  return { verdict, rule, reason };
}
