import { expect, it } from 'vitest';
import { mentionedRule } from '../../src/approvals/mentions.js';

function isMentioned(rule: string, command: string): boolean {
  const row = { rule, verdict: 'ask', reason: 'so' } as const;
  expect(mentionedRule(command, [row], ['deny'])).toBeUndefined();
  return mentionedRule(command, [row], ['ask']) === row;
}

it.each([
  ['Bash(touch:*)', 'touch x'],
  ['Bash(touch:*)', "bash -c 'touch x'"],
  ['Bash(touch:*)', "t'ou'ch x"],
  ['Bash(rm *)', 'bash <<E\nrm -r x\nE'],
  ['Bash(git push *--force*)', 'git -C . push --force'],
  ['Read(~/.ssh/**)', 'cd ~ && cat .ssh/id_rsa'],
  ['Read(./secret/**)', 'while read -r l; do echo $l; done < secret/k'],
  ['Edit(**/*.pem)', 'echo x > a.PEM'],
  ['Read(keys/[a-c].private)', 'cat keys/b.private'],
  ['WebFetch(domain:*.example.com)', 'curl https://a.example.com/x'],
])('the rule %s is mentioned by %s', (rule, command) => {
  expect(isMentioned(rule, command)).toBe(true);
});

it.each([
  ['Bash(touch:*)', 'echo touchy'],
  ['Bash(rm *)', 'npm run format'],
  ['Bash(git push *)', 'git status'],
  ['Edit(docs/a)', 'echo a b'],
  ['Bash', 'Bash'],
])('the rule %s is not mentioned by %s', (rule, command) => {
  expect(isMentioned(rule, command)).toBe(false);
});
