import { describe, expect, test } from 'vitest';
import { checkShellLine } from '../../src/approvals/shell/check-shell-line.js';
import { checkRequest, type RequestToCheck, type RequestVerdict } from '../../src/approvals/check-request.js';
import { realLookup } from '../../src/approvals/path-lookup.js';
import { compileRules, type RuleRow } from '../../src/approvals/user-rules.js';
import { row } from './shell-project.js';

const places = { projectPath: '/home/me/p', homeDir: '/home/me' };

function judge(request: RequestToCheck, rows: readonly RuleRow[]): Promise<RequestVerdict> {
  const rules = compileRules(rows, places);
  return checkRequest(request, rules, (line) => checkShellLine(line, rules, realLookup));
}

async function answer(rows: readonly RuleRow[], asked: Partial<RequestToCheck>): Promise<string> {
  const request: RequestToCheck = {
    mode: 'cautious',
    kind: 'permission',
    tool: 'Bash',
    input: {},
    projectPath: places.projectPath,
    paths: [],
    ...asked,
  };
  const { verdict, rule } = await judge(request, rows);
  return `${verdict} ${rule}`;
}

function file(tool: string, path: string): Partial<RequestToCheck> {
  return { tool, input: { file_path: path }, paths: [path] };
}

describe('a rule about files', () => {
  test.each([
    ['Edit(src/**)', 'Write', '/home/me/p/src/a.ts', true],
    ['Edit(src/**)', 'MultiEdit', '/home/me/p/src/deep/a.ts', true],
    ['Edit(src/**)', 'Edit', '/home/me/p/a.ts', false],
    ['Edit(src/**)', 'Edit', '/home/me/p/lib/src/a.ts', false],
    ['Edit(src/**)', 'Read', '/home/me/p/src/a.ts', false],
    ['Edit(/src/**)', 'Edit', '/home/me/p/src/a.ts', true],
    ['Edit(./src/**)', 'Edit', '/home/me/p/src/a.ts', true],
    ['Edit(src)', 'Edit', '/home/me/p/src/a.ts', true],
    ['Edit(src/*.ts)', 'Edit', '/home/me/p/src/a.ts', true],
    ['Edit(src/*.ts)', 'Edit', '/home/me/p/src/deep/a.ts', false],
    ['Edit(src/**/*.ts)', 'Edit', '/home/me/p/src/a.ts', true],
    ['Edit(src/**/*.ts)', 'Edit', '/home/me/p/src/deep/er/a.ts', true],
    ['Read(*.env)', 'Read', '/home/me/p/deep/x.env', true],
    ['Read(secret?.txt)', 'Read', '/home/me/p/secret1.txt', true],
    ['Read(secret?.txt)', 'Read', '/home/me/p/secret.txt', false],
    ['Read(//etc/**)', 'Read', '/etc/hosts', true],
    ['Read(//etc/**)', 'Read', '/etc', false],
    ['Read(/etc/**)', 'Read', '/etc/hosts', false],
    ['Read(~/.ssh/**)', 'Grep', '/home/me/.ssh/id', true],
    ['Read(~/notes.md)', 'Read', '/home/me/p/notes.md', false],
    ['Read', 'Glob', '/anywhere', true],
    ['Edit', 'NotebookEdit', '/anywhere', true],
    ['Write', 'Edit', '/anywhere', false],
  ])('%s and %s of %s: %s', async (rule, tool, path, isDenied) => {
    const judged = await answer([row(rule, 'deny')], { mode: 'auto', ...file(tool, path) });
    expect(judged).toBe(isDenied ? `deny ${rule}` : 'allow auto-permission');
  });

  test('that denies checks the path as written and resolved; one that allows checks the resolved path', async () => {
    const led = { tool: 'Read', input: { file_path: '/home/me/p/link' }, paths: ['/home/me/other'] };
    expect(await answer([row('Read(link)', 'deny')], led)).toBe('deny Read(link)');
    expect(await answer([row('Read(~/other)', 'deny')], led)).toBe('deny Read(~/other)');
    expect(await answer([row('Read(link)', 'allow')], led)).toBe('ask cautious-outside');
    expect(await answer([row('Read(~/other)', 'allow')], led)).toBe('allow Read(~/other)');
  });

  test('applies to the files that a shell line names', async () => {
    const cat = { input: { command: 'cat src/../keys/a' } };
    expect(await answer([row('Read(keys/**)', 'deny'), row('Bash', 'allow')], cat)).toBe(
      'deny Read(keys/**)',
    );
    expect(
      await answer([row('Edit(keys/**)', 'deny')], { mode: 'auto', input: { command: 'ls > keys/a' } }),
    ).toBe('deny Edit(keys/**)');
    expect(
      await answer([row('Edit(keys/**)', 'deny')], { mode: 'auto', input: { command: 'rm keys/a' } }),
    ).toBe('deny Edit(keys/**)');
  });
});

describe('a rule about a tool', () => {
  test.each([
    ['mcp__github', 'mcp__github__create_issue', true],
    ['mcp__github__*', 'mcp__github__create_issue', true],
    ['mcp__github__get_*', 'mcp__github__create_issue', false],
    ['mcp__github__create_issue', 'mcp__github__create_issue', true],
    ['mcp__git', 'mcp__github__create_issue', false],
    ['WebSearch', 'WebSearch', true],
    ['WebSearch', 'WebFetch', false],
  ])('%s and %s: %s', async (rule, tool, isDenied) => {
    expect(await answer([row(rule, 'deny')], { mode: 'auto', tool })).toBe(
      isDenied ? `deny ${rule}` : 'allow auto-permission',
    );
  });

  test.each([
    ['WebFetch(domain:example.com)', 'https://example.com/a', true],
    ['WebFetch(domain:example.com)', 'https://EXAMPLE.com./a', true],
    ['WebFetch(domain:example.com)', 'https://example.com:8443/', true],
    ['WebFetch(domain:example.com)', 'https://example.com.evil.org/', false],
    ['WebFetch(domain:example.com)', 'https://example.com@evil.org/', false],
    ['WebFetch(domain:example.com)', 'https://sub.example.com/', false],
    ['WebFetch(domain:*.example.com)', 'https://sub.example.com/', true],
    ['WebFetch(domain:*.example.com)', 'https://example.com/', false],
    ['WebFetch(domain:*.example.com)', 'https://notexample.com/', false],
    ['WebFetch(domain:example.com)', 'not a url at all', false],
  ])('%s and %s: %s', async (rule, url, isAllowed) => {
    expect(await answer([row(rule, 'allow')], { tool: 'WebFetch', input: { url } })).toBe(
      isAllowed ? `allow ${rule}` : 'ask cautious-network',
    );
  });

  test('may name a subagent', async () => {
    const asked = { tool: 'Task', input: { subagent_type: 'reviewer' } };
    expect(await answer([row('Agent(reviewer)', 'deny')], asked)).toBe('deny Agent(reviewer)');
    expect(await answer([row('Task(writer)', 'deny')], asked)).toBe('ask no-rule');
  });
});

describe('the order', () => {
  test('is deny, allow, ask, then the mode', async () => {
    const asked = { input: { command: 'npm test' } };
    const [deny, allow, ask] = [
      row('Bash(npm *)', 'deny'),
      row('Bash(npm test)', 'allow'),
      row('Bash(npm test *)', 'ask'),
    ];
    expect(await answer([ask, allow, deny], asked)).toBe('deny Bash(npm *)');
    expect(await answer([ask, allow], asked)).toBe('allow Bash(npm test)');
    expect(await answer([ask], { ...asked, mode: 'auto' })).toBe('ask Bash(npm test *)');
    expect(await answer([], { ...asked, mode: 'auto' })).toBe('allow auto-permission');
    expect(await answer([], asked)).toBe('ask no-rule');
  });

  test('leaves questions to the user alone', async () => {
    expect(await answer([row('AskUserQuestion', 'allow')], { tool: 'AskUserQuestion' })).toBe(
      'ask question-as-tool',
    );
  });
});

describe('a rule about commands', () => {
  test.each([
    ['Bash(npm run test)', 'npm run test', true],
    ['Bash(npm run test)', 'npm run test --watch', false],
    ['Bash(npm run test *)', 'npm run test', true],
    ['Bash(npm run test *)', 'npm run test --watch', true],
    ['Bash(npm run test *)', 'npm run tests', false],
    ['Bash(npm run test:*)', 'npm run test --watch', true],
    ['Bash(npm run test:*)', 'npm run test:unit', false],
    ['Bash(npm run test*)', 'npm run test:unit', true],
    ['Bash(npm * build)', 'npm run build', true],
    ['Bash(npm * build)', 'npm run build now', false],
    ['Bash(npm run test *)', 'npm "run test" x', false],
    ['Bash(npm run test *)', 'npm run "te"st x', true],
    ['Bash(npm run test *)', 'npm run test && npm run test x', true],
    ['Bash(npm run test *)', 'npm run test && npm publish', false],
    ['Bash(npm run test *)', 'npm run test | head -5', false],
    ['Bash(npm run test *)', 'npm run test > out.log 2>&1', false],
    ['Bash(npm run test > out.log 2>&1)', 'npm run test > out.log 2>&1', true],
    ['Bash(npm run test *)', 'npm run test > /tmp/out.log', false],
    ['Bash(npm run test *)', 'CI=1 npm run test', false],
    ['Bash(CI=1 npm run test *)', 'CI=1 npm run test', false],
    ['Bash(CI=1 npm run test)', 'CI=1 npm run test', true],
    ['Bash(CI=1 npm run test *)', 'CI=2 npm run test', false],
    ['Bash(* test)', 'LD_PRELOAD=x npm test', false],
    ['Bash(npm run test *)', 'npm run test $X', false],
    ['Bash(npm run test *)', 'npm run test $(id)', false],
    ['Bash(npm run test *)', 'timeout 60 npm run test', false],
    ['Bash(timeout 60 npm run test *)', 'timeout 60 npm run test', true],
    ['Bash(git *)', 'git commit -m x', true],
    ['Bash(git config user.name *)', 'git config user.name me', true],
    ['Bash(find . -name x -delete)', 'find . -name x -delete', true],
    ['Bash(put \\*)', "put '*'", false],
    ["Bash(put '\\*' *)", "put '*'", true],
    ['Bash(put \\*)', 'put *', false],
    ['Bash(put \\*)', 'put everything', false],
    ['Bash(echo $HOME)', 'echo $HOME', true],
    ['Bash', 'anything $(at all)', true],
    ['Bash(*)', 'anything "', true],
  ])('%s allows %j in mode cautious: %s', async (rule, command, isAllowed) => {
    const judged = await answer([row(rule, 'allow')], { input: { command } });
    expect(judged.startsWith('allow ')).toBe(isAllowed);
  });

  test('is checked in bounded time', async () => {
    const rules = [row(`Bash(${'*a'.repeat(100)}b)`, 'deny'), row(`Edit(${'*a'.repeat(100)}b)`, 'deny')];
    const long = 'a'.repeat(3_000);
    expect(await answer(rules, { mode: 'auto', input: { command: `${long}; ${long}` } })).toBe(
      'allow auto-permission',
    );
    expect(await answer(rules, { mode: 'auto', ...file('Edit', `/home/me/p/${long}`) })).toBe(
      'allow auto-permission',
    );
  });

  test('names the command that it matched in a longer line', async () => {
    const request: RequestToCheck = {
      mode: 'auto',
      kind: 'permission',
      tool: 'Bash',
      input: { command: 'ls && git push' },
      projectPath: '/p',
      paths: [],
    };
    const judged = await judge(request, [row('Bash(git push *)', 'deny')]);
    expect(judged).toMatchObject({
      verdict: 'deny',
      rule: 'Bash(git push *)',
      reason: 'because of Bash(git push *) (git push)',
    });
  });
});
