import { pathsOf } from './command-paths.js';
import { strictTexts } from './command-texts.js';
import { coveringRule, exactRule } from '../covering-rule.js';
import type { LineRequest, LineVerdict, PartVerdict } from './line-verdict.js';
import { answerOf, firstMatch, mayMatch, wholeTool, type Answer } from './match-command.js';
import type { Places } from '../places.js';
import { readPlainLine, type PlainCommand } from './plain-line.js';
import { readShellLine } from './read-shell-line.js';
import type { ShellLine, ShellPart, ShellWord } from './shell-part.js';
import { literalWord } from './shell-word.js';
import type { UserRule, UserRules } from '../user-rules.js';

const BY_AUTO: Answer = {
  verdict: 'allow',
  rule: 'auto-permission',
  reason: 'mode auto allows what no rule denies',
};
const NO_COMMANDS: ShellLine = { parts: [], faults: [] };

/**
 * Judges a shell line. Rules that deny or ask hold for every command that can be found in it, and where it cannot be read
 * whole, it is asked about. Rules that allow hold for lines of plain words alone, each of whose commands one of them covers.
 * All else is for the mode to say: `auto` allows it, `cautious` asks.
 */
export async function judgeShellLine(
  request: LineRequest,
  rules: UserRules,
  places: Places,
): Promise<LineVerdict> {
  return new LineJudge(request, rules, places).judge();
}

class LineJudge {
  readonly #request: LineRequest;
  readonly #rules: UserRules;
  readonly #places: Places;
  readonly #parts: PartVerdict[] = [];

  constructor(request: LineRequest, rules: UserRules, places: Places) {
    this.#request = request;
    this.#rules = rules;
    this.#places = places;
  }

  async judge(): Promise<LineVerdict> {
    const { deny, allow, ask } = this.#rules;
    const denied = wholeTool(deny);
    if (denied !== undefined) return { ...denied, parts: [] };
    const free = wholeTool(allow);
    const strict = [...deny, ...(free === undefined ? ask : [])].filter(
      ({ command, path }) => command !== undefined || path !== undefined,
    );
    const { line, projectPath, folder } = this.#request;
    const read = strict.length === 0 ? NO_COMMANDS : await readShellLine(line, folder ?? projectPath);
    for (const part of read.parts) await this.#walk(part, 0, free);
    const verdict = this.#strictest(read, strict) ?? free ?? this.#allowed() ?? this.#otherwise();
    return { ...verdict, parts: this.#parts };
  }

  /** What a rule denies in the line, or may deny: only the run would show it. */
  #strictest({ faults }: ShellLine, strict: readonly UserRule[]): Answer | undefined {
    const denied =
      firstMatch(this.#rules.deny, [[...this.#request.line]]) ??
      this.#parts.find(({ verdict }) => verdict === 'deny');
    if (denied !== undefined) return answerOnly(denied);
    const unseen = strict.find(({ command }) => command !== undefined);
    if (unseen !== undefined && faults.length > 0) {
      return {
        verdict: 'ask',
        rule: unseen.row.rule,
        reason: `it cannot be seen whether this rule holds: ${faults.join('; ')}`,
      };
    }
    const doubted = this.#parts.find(({ isDoubt, verdict }) => isDoubt === true && verdict === 'ask');
    return doubted === undefined ? undefined : answerOnly(doubted);
  }

  /** What rules allow: the line as it is written, or each of its commands. */
  #allowed(): Answer | undefined {
    const exact = exactRule(this.#rules.allow, this.#request.line);
    if (exact !== undefined) return answerOf(exact);
    const plain = readPlainLine(this.#request.line);
    if ('fault' in plain) return undefined;
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

  /** No rule covers the whole line. */
  #otherwise(): Answer {
    const { ask, allow } = this.#rules;
    const asked =
      this.#parts.find(({ verdict, rule }) => verdict === 'ask' && rule !== 'no-rule') ??
      firstMatch(ask, [[...this.#request.line]]) ??
      wholeTool(ask);
    if (asked !== undefined) return answerOnly(asked);
    if (this.#request.mode === 'auto') return BY_AUTO;
    const plain = allow.some(({ command }) => command !== undefined)
      ? readPlainLine(this.#request.line)
      : undefined;
    if (plain !== undefined && 'fault' in plain)
      return { verdict: 'ask', rule: 'no-rule', reason: plain.fault };
    return answerOnly(this.#parts.find(({ verdict }) => verdict === 'ask') ?? this.#byMode());
  }

  #byMode(): Answer {
    if (this.#request.mode === 'auto') return BY_AUTO;
    return { verdict: 'ask', rule: 'no-rule', reason: 'no rule allows this command' };
  }

  #covering(command: PlainCommand): Answer | undefined {
    const rule = coveringRule(this.#rules.allow, command);
    return rule === undefined ? undefined : answerOf(rule);
  }

  async #walk(part: ShellPart, depth: number, free: Answer | undefined): Promise<void> {
    const at = this.#parts.length;
    const verdict = await this.#part(part, free);
    this.#parts.push({ part: part.text, ...verdict, depth });
    for (const nested of part.nested) await this.#walk(nested, depth + 1, free);
    // A rule that covers a command covers what that one runs; only a denial goes deeper.
    if (verdict.verdict !== 'allow' || verdict.rule === BY_AUTO.rule) return;
    const inner = this.#parts.slice(at + 1);
    const settled = inner.map((one) =>
      one.verdict === 'ask' && one.isDoubt !== true ? { ...one, ...verdict } : one,
    );
    this.#parts.splice(at + 1, settled.length, ...settled);
  }

  async #part(part: ShellPart, free: Answer | undefined): Promise<Answer> {
    const { deny, ask } = this.#rules;
    const texts = strictTexts(part);
    return (
      firstMatch(deny, texts) ??
      (await this.#pathMatch(deny, part)) ??
      mayMatch(deny, texts) ??
      free ??
      this.#coveredPart(part) ??
      firstMatch(ask, texts) ??
      (await this.#pathMatch(ask, part)) ??
      mayMatch(ask, texts) ??
      wholeTool(ask) ??
      this.#byMode()
    );
  }

  #coveredPart({ text, assignments, redirects, isOpaque }: ShellPart): Answer | undefined {
    if (isOpaque || assignments.length > 0 || redirects.length > 0) return undefined;
    const plain = readPlainLine(text);
    const [command, more] = 'fault' in plain ? [] : plain.commands;
    return command === undefined || more !== undefined ? undefined : this.#covering(command);
  }

  /**
   * A rule about a file that a command names: `cat secrets/key` reads it. What a command does with a file that it names is not
   * known, so a rule about edits holds, too.
   */
  async #pathMatch(rules: readonly UserRule[], part: ShellPart): Promise<Answer | undefined> {
    const found = rules.filter(({ path }) => path !== undefined);
    if (found.length === 0) return undefined;
    const named = [
      ...part.words.slice(1).flatMap((word) => pathsIn(word).map((one) => ({ word: one, writes: true }))),
      ...part.redirects.flatMap(({ use, target }) =>
        target === undefined ? [] : [{ word: target, writes: use === 'write' }],
      ),
    ];
    for (const { word, writes } of named) {
      const paths = (await pathsOf(word, part.folders, this.#places)) ?? [];
      const hit = found.find(({ rule, path }) => {
        const counts = rule.kind === 'path' && (rule.access === 'read' || writes);
        return counts && paths.some((one) => path?.(one) === true);
      });
      if (hit !== undefined) return answerOf(hit);
    }
    return undefined;
  }
}

/** A word as a path, and what stands behind the option in it. */
function pathsIn(word: ShellWord): ShellWord[] {
  if (word.kind !== 'literal' || !word.value.startsWith('-')) {
    const sign = word.kind === 'literal' ? word.value.indexOf('=') : -1;
    return sign === -1 ? [word] : [word, literalWord(word.value.slice(sign + 1))];
  }
  const sign = word.value.indexOf('=');
  const behind = sign === -1 ? word.value.slice(2) : word.value.slice(sign + 1);
  return behind === '' ? [] : [literalWord(behind)];
}

function answerOnly({ verdict, rule, reason }: Answer): Answer {
  return { verdict, rule, reason };
}
