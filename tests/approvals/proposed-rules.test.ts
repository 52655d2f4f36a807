import { expect, it } from 'vitest';
import { parsePermissionRule } from '../../src/approvals/permission-rule.js';
import { proposedRules, whyNotWritten } from '../../src/approvals/proposed-rules.js';

const projectPath = '/home/ann/app';

function rulesFor(tool: string, input: Record<string, unknown>): readonly string[] | string {
  const proposed = proposedRules({ tool, input, projectPath });
  return 'rules' in proposed ? proposed.rules : proposed.why;
}

it.each([
  ['Bash', { command: 'npm test && git status' }, 'Bash(npm test && git status)'],
  ['Monitor', { command: 'tail -f log' }, 'Bash(tail -f log)'],
  ['Edit', { file_path: '/home/ann/app/src/CLAUDE.md' }, 'Edit(//home/ann/app/src/CLAUDE.md)'],
  ['Write', { file_path: 'config/.env' }, 'Edit(//home/ann/app/config/.env)'],
  ['Read', { file_path: '/etc/hosts' }, 'Read(//etc/hosts)'],
  ['WebFetch', { url: 'https://example.com/a' }, 'WebFetch(domain:example.com)'],
  ['mcp__server__tool', {}, 'mcp__server__tool'],
] as const)('%s %j is allowed by a rule for exactly that', (tool, input, rule) => {
  expect(rulesFor(tool, input)).toEqual([rule]);
  expect(parsePermissionRule(rule)).toHaveProperty('rule');
  expect(whyNotWritten(rule)).toBeUndefined();
});

it.each(['Agent', 'Workflow', 'Skill', 'SendMessage', 'Teleport'])('for %s none is proposed', (tool) => {
  expect(rulesFor(tool, {})).toContain('every use of it');
  expect(whyNotWritten(tool)).toMatch(/would allow every use|is invalid/);
});

it.each(['Edit(?*)', 'Edit(***)', 'Edit([a-z]*)', 'mcp__srv', 'mcp__a*', 'mcp__a__*', 'Bash(git*)'])(
  '%s allows too much',
  (rule) => {
    expect(whyNotWritten(rule)).toMatch(/would allow every|must name a program/);
  },
);

it.each([String.raw`grep 'a\*' b`, "echo 'a *'", String.raw`grep 'a\.b' c`, 'ls *', String.raw`echo \\`])(
  'for the command %s none is proposed, and none with a backslash is written',
  (command) => {
    for (const tool of ['Bash', 'Monitor'])
      expect(rulesFor(tool, { command })).toContain('backslash or a star');
    expect(whyNotWritten(String.raw`Bash(echo ${command.replace(/[\\*]/g, String.raw`\$&`)})`)).toContain(
      'backslash',
    );
  },
);

it('for a path with wildcards none is proposed', () => {
  expect(rulesFor('Edit', { file_path: '/home/ann/app/a*b' })).toContain('wildcards');
});
