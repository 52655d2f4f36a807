import { expect, it } from 'vitest';
import { rulePartOf } from '../../../src/tasks/decisions/rule-parts.js';

const part = { part: 'git push', depth: 0, verdict: 'ask', reason: 'It is public.' } as const;
const rules = [{ rule: 'Bash(git push *)', verdict: 'ask', reason: 'It is public.' }] as const;

it.each([
  ['Bash(git push *)', 'Bash(git push *)', '/home/ann/config.json:3'],
  ['auto-permission', 'auto-permission', 'mode cautious'],
  ['no-rule', null, null],
])('a part that %s answers says where that rule stands', (rule, named, from) => {
  const settings = { rules: [...rules], rules_from: '/home/ann/config.json:3' };
  expect(rulePartOf({ ...part, rule }, 'cautious', settings)).toEqual({ ...part, rule: named, from });
});

it('a task of an older bridge does not know where its rules stood', () => {
  expect(rulePartOf({ ...part, rule: 'Bash(git push *)' }, 'cautious', { rules: [...rules] }).from).toBe(
    'the settings',
  );
});
