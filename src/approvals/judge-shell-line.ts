import { allowText, strictTexts } from './command-texts.js';
import { pathsOf } from './command-paths.js';
import type { ApprovalMode } from './decide.js';
import { judgeReading } from './judge-reading.js';
import { redirectFault, writesFile } from './judge-redirect.js';
import {
  answerOf,
  coversHazards,
  exactRule,
  firstMatch,
  holds,
  mayMatch,
  wholeTool,
  type Answer,
} from './match-command.js';
import type { Places } from './places.js';
import { readShellLine } from './read-shell-line.js';
import type { ShellLine, ShellPart, ShellWord } from './shell-part.js';
import { literalWord } from './shell-word.js';
import type { UserRule, UserRules } from './user-rules.js';

/** What decides about one command of a line, and why. */
export interface PartVerdict extends Answer {
  readonly part: string;
  /** Commands in commands are deeper. */
  readonly depth: number;
}

export interface LineVerdict extends Answer {
  /** Empty when the line did not have to be read. */
  readonly parts: readonly PartVerdict[];
}

export interface LineRequest {
  readonly line: string;
  readonly mode: ApprovalMode;
  /** Real path of the project. */
  readonly projectPath: string;
  /** Where the line begins; undefined when the session does not say: then it is taken for the project's own folder. */
  readonly folder: string | undefined;
}

const MODE_AUTO = 'auto-permission';

const BY_AUTO: Answer = { verdict: 'allow', rule: MODE_AUTO, reason: 'mode auto allows what no rule denies' };

/**
 * Judges a shell line command by command: one denied denies the line, one to ask about makes it asked, and only when all are
 * allowed it is. What cannot be read is asked about, in mode auto only where a rule could have denied it.
 */
export async function judgeShellLine(
  request: LineRequest,
  rules: UserRules,
  places: Places,
): Promise<LineVerdict> {
  const judge = new LineJudge(request, rules, places);
  return judge.judge();
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
    const denied = wholeTool(this.#rules.deny);
    if (denied !== undefined) return { ...denied, parts: [] };
    const allowed = wholeTool(this.#rules.allow);
    if (!this.#needsReading(allowed))
      return { ...(allowed ?? wholeTool(this.#rules.ask) ?? BY_AUTO), parts: [] };
    const { line, projectPath, folder } = this.#request;
    const read = await readShellLine(line, folder ?? projectPath);
    for (const part of read.parts) await this.#walk(part, 0, allowed);
    return { ...this.#whole(read, allowed), parts: this.#parts };
  }

  /** Whether a rule that is about parts of a line can change anything. */
  #needsReading(allowed: Answer | undefined): boolean {
    const { deny, allow, ask } = this.#rules;
    const counting = allowed === undefined ? [...deny, ...allow, ...ask] : deny;
    if (counting.some(({ command, path }) => command !== undefined || path !== undefined)) return true;
    return allowed === undefined && this.#request.mode === 'cautious';
  }

  /** The line's verdict, from those of its parts and from what is true of it as a whole. */
  #whole({ hazards, isRead }: ShellLine, allowed: Answer | undefined): Answer {
    const { deny, allow, ask } = this.#rules;
    const line = [...this.#request.line];
    const denied = firstMatch(deny, [line]) ?? this.#parts.find(({ verdict }) => verdict === 'deny');
    if (denied !== undefined) return answerOnly(denied);
    const unseen = isRead
      ? undefined
      : [...deny, ...(allowed === undefined ? ask : [])].find(({ command }) => command !== undefined);
    if (unseen !== undefined) {
      return {
        verdict: 'ask',
        rule: unseen.row.rule,
        reason: `it cannot be seen whether this rule holds: ${hazards.join('; ')}`,
      };
    }
    const doubted = this.#parts.find(({ isDoubt, verdict }) => isDoubt === true && verdict === 'ask');
    if (doubted !== undefined) return answerOnly(doubted);
    if (allowed !== undefined) return allowed;
    const exact = exactRule(allow, this.#request.line);
    if (exact !== undefined) return answerOf(exact);
    const asked = this.#parts.find(({ verdict }) => verdict === 'ask') ?? firstMatch(ask, [line]);
    if (asked !== undefined) return answerOnly(asked);
    if (this.#request.mode === 'auto') return BY_AUTO;
    const [hazard] = hazards;
    if (hazard !== undefined) return { verdict: 'ask', rule: 'no-rule', reason: hazard };
    const [first] = this.#parts;
    if (first === undefined) return { verdict: 'ask', rule: 'no-rule', reason: 'it holds no command' };
    return {
      verdict: 'allow',
      rule: [...new Set(this.#parts.map(({ rule }) => rule))].join(', '),
      reason: first.reason,
    };
  }

  async #walk(part: ShellPart, depth: number, allowed: Answer | undefined): Promise<void> {
    const at = this.#parts.length;
    const verdict = await this.#part(part, allowed);
    this.#parts.push({ part: part.text, ...verdict, depth });
    for (const nested of part.nested) await this.#walk(nested, depth + 1, allowed);
    const inner = this.#parts.slice(at + 1);
    // What a rule allowed by its whole text it allowed with the commands inside; only a denial goes deeper.
    if (verdict.verdict === 'allow' && verdict.rule !== MODE_AUTO) {
      const settled = inner.map((one) =>
        one.verdict === 'ask' && one.isDoubt !== true ? { ...one, ...verdict } : one,
      );
      this.#parts.splice(at + 1, settled.length, ...settled);
    }
  }

  async #part(part: ShellPart, allowed: Answer | undefined): Promise<Answer> {
    const texts = strictTexts(part);
    const denied = firstMatch(this.#rules.deny, texts) ?? (await this.#deniedPath(part));
    if (denied !== undefined) return denied;
    const doubted = mayMatch(this.#rules.deny, texts);
    if (doubted !== undefined) return doubted;
    if (allowed !== undefined) return allowed;
    const ruled = await this.#allowed(part);
    if (ruled !== undefined) return ruled;
    const asked =
      firstMatch(this.#rules.ask, texts) ??
      (await this.#askedPath(part)) ??
      mayMatch(this.#rules.ask, texts) ??
      wholeTool(this.#rules.ask);
    if (asked !== undefined) return asked;
    if (this.#request.mode === 'auto') return BY_AUTO;
    const redirect = await redirectFault(part, this.#request.projectPath, this.#places);
    if (redirect !== undefined) return { verdict: 'ask', rule: 'no-rule', reason: redirect };
    if (writesFile(part)) return { verdict: 'ask', rule: 'no-rule', reason: 'a redirection writes a file' };
    const reading = await judgeReading(part, {
      projectPath: this.#request.projectPath,
      places: this.#places,
    });
    // A session that does not say where it is would go on from there unseen.
    const isLost = part.words[0]?.value === 'cd' && this.#request.folder === undefined;
    if (isLost && reading.isAllowed)
      return { verdict: 'ask', rule: 'no-rule', reason: 'the session would stay in that folder, unseen' };
    return { verdict: reading.isAllowed ? 'allow' : 'ask', rule: reading.rule, reason: reading.why };
  }

  async #allowed(part: ShellPart): Promise<Answer | undefined> {
    const commands = this.#rules.allow.filter((rule) => rule.command !== undefined);
    const exact = exactRule(commands, part.text);
    if (exact !== undefined) return answerOf(exact);
    if (part.isOpaque || part.words.length === 0) return undefined;
    const { tokens, ends } = allowText(part);
    const fitting = commands.find(
      ({ command }) => command !== undefined && holds(command, tokens) && coversHazards(command, part, ends),
    );
    if (
      fitting === undefined ||
      (await redirectFault(part, this.#request.projectPath, this.#places)) !== undefined
    )
      return undefined;
    return answerOf(fitting);
  }

  async #deniedPath(part: ShellPart): Promise<Answer | undefined> {
    return this.#pathMatch(this.#rules.deny, part);
  }

  async #askedPath(part: ShellPart): Promise<Answer | undefined> {
    return this.#pathMatch(this.#rules.ask, part);
  }

  /** A rule about a file that a command names: `cat secrets/key` is reading it. */
  async #pathMatch(rules: readonly UserRule[], part: ShellPart): Promise<Answer | undefined> {
    const found = rules.filter(({ path }) => path !== undefined);
    if (found.length === 0) return undefined;
    const isReader = (
      await judgeReading(
        { ...part, redirects: [] },
        { projectPath: this.#request.projectPath, places: this.#places },
      )
    ).isAllowed;
    const named = [
      ...part.words
        .slice(1)
        .flatMap((word) => pathsIn(word).map((one) => ({ word: one, writes: !isReader }))),
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
