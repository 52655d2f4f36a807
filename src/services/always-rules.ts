import { proposedRules, whyNotWritten } from '../approvals/proposed-rules.js';
import type { RuleRow } from '../approvals/modes.js';
import { BridgeError } from '../base/errors.js';
import { readJsonFile } from '../base/files/json-file.js';
import { shownCharacters, oneLine } from '../base/text.js';
import type { AlwaysRules } from '../board/always-rules.js';
import { writeRules } from '../config/write-rules.js';
import { taskSpecSchema } from '../tasks/task-spec.js';
import type { Decision } from '../tasks/task.js';

const MAX_SUMMARY_CHARS = 200;
const WHEN = 'It applies to servers and boards that start from now on. What runs now keeps its rules.';

export interface AlwaysRulesParts {
  /** The settings file that this process has read, or would read. */
  readonly file: string;
  /** Where those stand. */
  readonly rulesFrom: string | null;
  readonly specFile: (taskId: string) => string;
}

/** Proposes and writes rules that allow. Only the settings file of this process is written. */
export function alwaysRulesOf({ file, rulesFrom, specFile }: AlwaysRulesParts): AlwaysRules {
  // Rules of a variable or a flag are used instead of those of the file.
  const refusal =
    rulesFrom === null || fileOf(rulesFrom) === file
      ? null
      : `The rules come from ${rulesFrom}, and those in ${file} are not read. Add the rule there yourself.`;
  const checked = (decision: Decision, rules: readonly string[], given: string): RuleRow[] => {
    const rows = rowsOf(decision, rules);
    const why = given === file ? refusal : `The board writes only ${file}, not ${given}.`;
    if (why === null) return rows;
    throw new BridgeError('INVALID_ARGUMENTS', why, 'Nothing was written.');
  };
  let writing: Promise<unknown> = Promise.resolve();
  return {
    propose: async ({ task_id, project_path: projectPath }, decision, given) => {
      const rules = given ?? narrowest(decision, projectPath);
      const rows = JSON.stringify({ rules: rowsOf(decision, rules) }, null, 2);
      // The task's server may have read other settings.
      const from = await rulesFromIn(specFile(task_id));
      const other =
        from === undefined || fileOf(from) === file
          ? []
          : [
              `This task was started by a server that has its rules from ${from}: servers with those settings do not read ${file}.`,
            ];
      return { rules, rows, file, refusal, notes: [WHEN, ...other] };
    },
    check: (...asked) => void checked(...asked),
    write: async (...asked) => {
      const rows = checked(...asked);
      const written = writing.catch(() => undefined).then(() => writeRules(file, rows));
      writing = written;
      await written;
    },
  };
}

/** Undefined for a task that was removed meanwhile. */
async function rulesFromIn(specFile: string): Promise<string | undefined> {
  const spec = await readJsonFile(specFile, taskSpecSchema);
  return spec.state === 'ok' ? spec.value.settings.rules_from : undefined;
}

function narrowest({ tool, input }: Decision, projectPath: string): readonly string[] {
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
