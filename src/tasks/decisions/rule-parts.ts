// Pure: what the rules said about each command of a shell line, as a decision keeps it.
import type { PartVerdict } from '../../approvals/shell/line-verdict.js';
import { oneLine } from '../../base/text/text.js';
import type { PermissionMode, RulePart } from '../task.js';
import type { TaskSpec } from '../task-spec.js';

const MAX_PARTS = 20;
const MAX_PART_CHARS = 160;
const MAX_RULE_CHARS = 300;
const MAX_REASON_CHARS = 200;
const MAX_FROM_CHARS = 300;
const NO_RULE = 'no-rule';

/** The verdict on a part, with the place where its rule stands: in the settings of the task, or in its mode. */
export function rulePartOf(
  { part, depth, verdict, rule, reason }: PartVerdict,
  mode: PermissionMode,
  { rules = [], rules_from }: Pick<TaskSpec['settings'], 'rules' | 'rules_from'>,
): RulePart {
  const isSetting = rules.some((row) => row.rule === rule);
  const place = isSetting ? (rules_from ?? 'the settings') : `mode ${mode}`;
  const isNone = rule === NO_RULE;
  return { part, depth, verdict, rule: isNone ? null : rule, reason, from: isNone ? null : place };
}

/** The first parts, each on one line. */
export function boundedParts(parts: readonly RulePart[]): RulePart[] {
  const more = parts.length - MAX_PARTS;
  const first = parts.slice(0, MAX_PARTS).map(({ part, depth, verdict, rule, reason, from }) => ({
    part: oneLine(part, MAX_PART_CHARS),
    depth,
    verdict,
    rule: rule === null ? null : oneLine(rule, MAX_RULE_CHARS),
    reason: oneLine(reason, MAX_REASON_CHARS),
    from: from === null ? null : oneLine(from, MAX_FROM_CHARS),
  }));
  if (more <= 0) return first;
  const words = `${more} more commands are not listed`;
  return [...first, { part: '…', depth: 0, verdict: 'ask', rule: null, reason: words, from: null }];
}
