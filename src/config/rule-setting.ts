import { z } from 'zod';
import type { RuleRow } from '../approvals/modes.js';
import { MAX_RULE_CHARS, parsePermissionRule, type PermissionRule } from '../approvals/permission-rule.js';

const MAX_REASON_CHARS = 500;
const REASON_WORDS = `a reason in one line of at most ${MAX_REASON_CHARS} characters, which is shown when the rule applies`;

/** One rule of the settings: what it applies to, in Claude Code's syntax, the verdict, and the reason. */
export const ruleRowSchema = z
  .strictObject(
    {
      rule: z
        .string('a rule such as "Bash(git diff *)"')
        .max(MAX_RULE_CHARS, `a rule of at most ${MAX_RULE_CHARS} characters`)
        .superRefine((text, context) => {
          const read = parsePermissionRule(text);
          if ('expected' in read) context.addIssue({ code: 'custom', message: read.expected });
        }),
      verdict: z.enum(['allow', 'deny', 'ask'], 'one of "allow", "deny", "ask"'),
      reason: z
        .string(REASON_WORDS)
        .max(MAX_REASON_CHARS, REASON_WORDS)
        .regex(/^[^\u0000-\u001f\u007f]*\S[^\u0000-\u001f\u007f]*$/, REASON_WORDS),
    },
    'an object with "rule", "verdict" and "reason", and nothing else',
  )
  .superRefine(({ rule: text, verdict }, context) => {
    const read = parsePermissionRule(text);
    const message = 'rule' in read ? notHeld(read.rule, verdict) : undefined;
    if (message !== undefined) context.addIssue({ code: 'custom', path: ['rule'], message });
  });

/** What Claude Code would not hold, as measured with 2.1.330 and 2.1.332. */
function notHeld(rule: PermissionRule, verdict: RuleRow['verdict']): string | undefined {
  if (verdict === 'ask' && rule.kind === 'named')
    return `"${rule.tool}" without brackets, or the verdict "deny": Claude Code never asks about one by its name`;
  // It takes a command apart at these, and would ask where it is to deny.
  const isTakenApart =
    rule.kind === 'command' && /[&|;<>\n]/.test(rule.pattern) && /(?<!\\)\*/.test(rule.pattern);
  if (verdict === 'deny' && isTakenApart)
    return 'one command without &, |, ;, <, > and newlines beside its *: write a rule for each command of the line';
  return undefined;
}
