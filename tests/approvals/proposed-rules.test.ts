import { expect, it } from 'vitest';
import { isCovered } from '../../src/approvals/covering-rule.js';
import { parsePermissionRule } from '../../src/approvals/permission-rule.js';
import { proposedRules } from '../../src/approvals/proposed-rules.js';
import { compileRules } from '../../src/approvals/user-rules.js';
import { whyNotWritten } from '../../src/approvals/wide-rule.js';

const projectPath = '/home/ann/app';

function rulesFor(tool: string, input: Record<string, unknown>): readonly string[] | string {
  const proposed = proposedRules({ tool, input, projectPath });
  return 'rules' in proposed ? proposed.rules : proposed.why;
}

it.each([
  ['git diff --stat main', ['Bash(git diff *)']],
  ['npm test', ['Bash(npm test)']],
  ['npm run lint -- --fix && git status', ['Bash(npm run lint *)', 'Bash(git status)']],
  ['rm -rf build', ['Bash(rm -rf build)']],
  ['git -C other push', ['Bash(git -C other push)']],
  ["echo 'a *'", ["Bash(echo 'a \\*')"]],
  ['ls src/*.ts', ['Bash(ls *)']],
  ['make "$TARGET"', ['Bash(make "$TARGET")']],
])('the command %s is allowed by the narrowest rules that say what it does', (command, rules) => {
  expect(rulesFor('Bash', { command })).toEqual(rules);
  const rows = rules.map((rule) => ({ rule, verdict: 'allow', reason: 'r' }) as const);
  expect(isCovered(compileRules(rows, { projectPath, homeDir: '/home/ann' }).allow, command)).toBe(true);
});

it.each([
  ['Edit', { file_path: '/home/ann/app/src/a/b.ts' }, ['Edit(/src/a/**)']],
  ['Write', { file_path: 'README.md' }, ['Edit(/README.md)']],
  ['Write', { file_path: '/etc/hosts' }, ['Edit(//etc/hosts)']],
  ['Read', { file_path: '/home/ann/app/.env' }, ['Read(/.env)']],
  ['Grep', { path: '/home/ann/app/src' }, ['Read(/src/**)']],
  ['WebFetch', { url: 'https://example.com/a' }, ['WebFetch(domain:example.com)']],
  ['mcp__files__read', {}, ['mcp__files__read']],
  ['Edit', { file_path: 'a[1].ts' }, 'the path has characters that are wildcards in a rule'],
  ['Grep', {}, 'it names no file'],
])('%s of %j gets a rule for its folder, host or tool', (tool, input, expected) => {
  expect(rulesFor(tool, input)).toEqual(expected);
  if (typeof expected === 'string') return;
  expect(expected.map((rule) => 'rule' in parsePermissionRule(rule))).toEqual(expected.map(() => true));
  expect(expected.map(whyNotWritten)).toEqual(expected.map(() => undefined));
});

it.each([
  ['Bash', 'would allow every use of Bash'],
  ['Bash(*)', 'would allow every use of Bash'],
  ['Bash(git*)', 'must name a program before its *'],
  ['Bash(* push)', 'must name a program before its *'],
  ['Edit', 'would allow every use of Edit'],
  ['Edit(**)', 'would allow every file'],
  ['Edit(~/**)', 'would allow every file'],
  ['Read(//*/**)', 'would allow every file'],
  ['WebFetch', 'would allow every use of WebFetch'],
  ['bash(ls)', "is invalid: expected the tool's name as Claude Code spells it, Bash"],
  ['Bash(ls \u202e)', 'contains characters that are not seen'],
])('the rule %s is not written', (rule, why) => {
  expect(whyNotWritten(rule)).toBe(why);
});
