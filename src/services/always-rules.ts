import { readFile } from 'node:fs/promises';
import { proposedRules, whyNotWritten } from '../approvals/proposed-rules.js';
import type { RuleRow } from '../approvals/modes.js';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { shownCharacters, oneLine } from '../base/text.js';
import type { AlwaysRules } from '../board/always-rules.js';
import type { RuleProposal } from '../board/protocol.js';
import { writeRules } from '../config/write-rules.js';
import { taskSpecSchema } from '../tasks/task-spec.js';
import type { Decision, TaskRecord } from '../tasks/task.js';

const MAX_SUMMARY_CHARS = 200;
const WHEN =
  'It counts for tasks of servers and boards that are started after it is written. What runs now keeps the rules it was started with.';

export interface AlwaysRulesParts {
  /** The settings file that this process has read, or would read. */
  readonly file: string;
  /** Where those stand. */
  readonly rulesFrom: string | null;
  readonly specFile: (taskId: string) => string;
}

/** Proposes and writes rules that allow. Only the settings file of this process is written. */
export class AlwaysRulesOfSettings implements AlwaysRules {
  readonly #parts: AlwaysRulesParts;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(parts: AlwaysRulesParts) {
    this.#parts = parts;
  }

  async propose(record: TaskRecord, decision: Decision, given?: readonly string[]): Promise<RuleProposal> {
    const { file } = this.#parts;
    const rules = given ?? narrowest(record, decision);
    const rows = rowsOf(decision, rules);
    return {
      rules,
      rows: JSON.stringify({ rules: rows }, null, 2),
      file,
      refusal: this.#refusal() ?? null,
      notes: [WHEN, ...(await this.#otherPlace(record.task_id))],
    };
  }

  check(decision: Decision, rules: readonly string[], file: string): void {
    this.#checked(decision, rules, file);
  }

  async write(decision: Decision, rules: readonly string[], file: string): Promise<void> {
    const rows = this.#checked(decision, rules, file);
    const written = this.#writing.catch(() => undefined).then(() => writeRules(file, rows));
    this.#writing = written;
    await written;
  }

  #checked(decision: Decision, rules: readonly string[], file: string): RuleRow[] {
    const rows = rowsOf(decision, rules);
    const refusal =
      file === this.#parts.file ? this.#refusal() : `The board writes only ${this.#parts.file}, not ${file}.`;
    if (refusal === undefined) return rows;
    throw new BridgeError('INVALID_ARGUMENTS', refusal, 'Nothing was written.');
  }

  /** Rules of a variable or a flag are used instead of those of the file. */
  #refusal(): string | undefined {
    const { rulesFrom, file } = this.#parts;
    if (rulesFrom === null || fileOf(rulesFrom) === file) return undefined;
    return `The rules come from ${rulesFrom}, and those in ${file} are not read. Add the rule there yourself.`;
  }

  /** The task's server may have read other settings. */
  async #otherPlace(taskId: string): Promise<string[]> {
    const from = await this.#rulesFromOf(taskId);
    if (from === undefined || fileOf(from) === this.#parts.file) return [];
    return [
      `This task was started by a server that has its rules from ${from}: servers with those settings do not read ${this.#parts.file}.`,
    ];
  }

  async #rulesFromOf(taskId: string): Promise<string | undefined> {
    try {
      const spec = taskSpecSchema.parse(JSON.parse(await readFile(this.#parts.specFile(taskId), 'utf8')));
      return spec.settings.rules_from;
    } catch (error) {
      // A task that was removed meanwhile.
      if (systemCodeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }
}

function narrowest({ project_path: projectPath }: TaskRecord, { tool, input }: Decision): readonly string[] {
  const found = proposedRules({ tool, input, projectPath });
  if ('rules' in found) return found.rules;
  throw noRule(`No rule can be proposed for this request: ${found.why}.`);
}

/** Throws INVALID_ARGUMENTS for a rule that is none, or allows too much. */
function rowsOf(decision: Decision, rules: readonly string[]): RuleRow[] {
  // A dialog on the screen has no tool that a rule could name.
  if (decision.kind !== 'permission' || decision.can_edit !== true || decision.input_is_cut === true)
    throw noRule(
      'A rule can allow only a permission that hooks or the stream report, and that is shown whole.',
    );
  const summary = shownCharacters(oneLine(decision.summary, MAX_SUMMARY_CHARS));
  return rules.map((rule) => {
    const why = whyNotWritten(rule);
    if (why !== undefined) throw noRule(`The rule ${shownCharacters(rule)} ${why}.`);
    return { rule, verdict: 'allow', reason: `Always allowed at the board, first for ${summary}` };
  });
}

function noRule(message: string): BridgeError {
  return new BridgeError('INVALID_ARGUMENTS', message, 'Allow it once, or write a narrower rule.');
}

/** Without the line. */
function fileOf(place: string): string {
  return place.replace(/:\d+$/, '');
}
