import { describe, expect, test } from 'vitest';
import { decide, type ApprovalRequest, type Rule } from '../../src/approvals/decide.js';

const request: ApprovalRequest = {
  mode: 'auto',
  kind: 'permission',
  tool: 'Bash',
  projectPath: '/p',
  paths: [],
};
const rule = (id: string, verdict: Rule['verdict'], more: Partial<Rule> = {}): Rule => ({
  id,
  modes: ['auto'],
  kinds: ['permission'],
  tool: /^Bash$/,
  verdict,
  why: `because of ${id}`,
  ...more,
});

describe('decide', () => {
  test('tries deny before allow and allow before ask, whatever the order of the rows', () => {
    const rules = [rule('c', 'ask'), rule('b', 'allow'), rule('a', 'deny')];
    expect(decide(request, rules)).toEqual({ verdict: 'deny', rule: 'a', reason: 'because of a' });
    expect(decide(request, rules.slice(0, 2))).toEqual({
      verdict: 'allow',
      rule: 'b',
      reason: 'because of b',
    });
    expect(decide(request, rules.slice(0, 1))).toEqual({ verdict: 'ask', rule: 'c', reason: 'because of c' });
  });

  test('names the first of several rules with the same verdict', () => {
    expect(decide(request, [rule('first', 'allow'), rule('second', 'allow')]).rule).toBe('first');
  });

  test('asks about what no rule matches', () => {
    expect(decide(request, [])).toEqual({
      verdict: 'ask',
      rule: 'no-rule',
      reason: 'no rule of mode auto covers this',
    });
  });

  test.each([
    ['mode', { modes: ['cautious'] }],
    ['kind', { kinds: ['plan'] }],
    ['tool', { tool: /^Bas$/ }],
    ['subject', { subject: () => false }],
  ] satisfies [string, Partial<Rule>][])('a rule for another %s does not count', (_name, more) => {
    expect(decide(request, [rule('almost', 'allow', more)]).rule).toBe('no-rule');
  });
});
