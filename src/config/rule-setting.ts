import { z } from 'zod';
import { MAX_RULE_CHARS, parsePermissionRule } from '../approvals/permission-rule.js';
import { worded } from './expected.js';

const TAKEN_APART = /^(?=[^]*[&|;<>\n])[^]*(?<!\\)\*/;
const MAX_REASON_CHARS = 500;

/** One rule of the settings: what it applies to, in Claude Code's syntax, the verdict, and the reason. */
export const ruleRowSchema = worded(
  'an object with "rule", "verdict" and "reason", and nothing else',
  z
    .strictObject({
      rule: worded(
        `a rule of at most ${MAX_RULE_CHARS} characters, such as "Bash(git diff *)"`,
        z
          .string()
          .max(MAX_RULE_CHARS)
          .superRefine((text, context) => {
            const read = parsePermissionRule(text);
            if ('expected' in read) context.addIssue({ code: 'custom', message: read.expected });
          }),
      ),
      verdict: z.enum(['allow', 'deny', 'ask']),
      reason: worded(
        `a reason in one line of at most ${MAX_REASON_CHARS} characters, which is shown when the rule applies`,
        z
          .string()
          .max(MAX_REASON_CHARS)
          .regex(/^[^\u0000-\u001f\u007f]*\S[^\u0000-\u001f\u007f]*$/),
      ),
    })
    .superRefine(({ rule: text, verdict }, context) => {
      const read = parsePermissionRule(text);
      if (!('rule' in read)) return;
      const { rule } = read;
      const refuse = (message: string): void => context.addIssue({ code: 'custom', path: ['rule'], message });
      // Measured with 2.1.330: it runs unasked.
      if (verdict === 'ask' && rule.kind === 'named')
        refuse(
          `"${rule.tool}" without brackets, or the verdict "deny": Claude Code never asks about one by its name`,
        );
      // Measured with 2.1.332: it takes a command apart at these.
      if (verdict === 'deny' && rule.kind === 'command' && TAKEN_APART.test(rule.pattern))
        refuse('one command without &, |, ;, <, > and newlines beside its *: write a rule for each part');
    }),
);
