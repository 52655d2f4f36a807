import { describe, expect, it } from 'vitest';
import { judge, type ToolCall } from '../../src/approvals/judge.js';

const FOLDER = '/home/ann/app';

function verdictOn(tool: string, input: Record<string, unknown>, more: Partial<ToolCall> = {}): string {
  const paths = [input['file_path'], input['notebook_path']].filter((path) => typeof path === 'string');
  const { verdict, reason } = judge({
    mode: 'cautious',
    tool,
    input,
    folder: FOLDER,
    paths,
    obeyed: [`${FOLDER}/docs/style.md`, `${FOLDER}/scripts/hooks`],
    plansFolder: '/home/ann/.claude/plans',
    ownAgents: new Set(['a1']),
    ownPlaces: ['/home/ann/.state'],
    rules: [],
    ...more,
  });
  return `${verdict}: ${reason}`;
}

const edit = (path: string, more: Partial<ToolCall> = {}): string =>
  verdictOn('Write', { file_path: path }, more);

describe('in mode cautious', () => {
  it('a project file is read and edited', () => {
    expect(verdictOn('Read', { file_path: `${FOLDER}/a.ts` })).toMatch(/^allow/);
    expect(edit(`${FOLDER}/src/a.ts`)).toMatch(/^allow/);
  });

  it.each(['.envrc', '.github/workflows/a.yml', 'CLAUDE.md', 'docs/style.md', 'scripts/hooks/pre-commit'])(
    'an edit of %s is asked about',
    (path) => {
      expect(edit(`${FOLDER}/${path}`)).toMatch(/^ask/);
    },
  );

  it('what is outside, and another task’s worktree, is asked about; a worktree’s own files are not', () => {
    const worktree = `${FOLDER}/.claude/worktrees/task_0123456789abcdef0123`;
    expect(edit('/home/ann/other/a.ts')).toMatch(/^ask: .*outside/);
    expect(edit(`${worktree}/a.ts`)).toMatch(/^ask/);
    expect(edit(`${worktree}/a.ts`, { folder: worktree, obeyed: [] })).toMatch(/^allow/);
  });

  it('a link out of the project is asked about by where it leads', () => {
    const paths = [`${FOLDER}/a.ts`, '/etc/a.ts'];
    expect(edit(`${FOLDER}/a.ts`, { paths })).toMatch(/^ask: .*outside/);
  });

  it.each([
    ['Workflow', { scriptPath: 'a.js' }, 'Workflow', 'pass'],
    ['Skill', { skill: 'deploy' }, 'Skill(deploy)', 'pass'],
    ['mcp__db__query', {}, 'mcp__db', 'pass'],
    ['WebFetch', { url: 'https://a.example/' }, 'WebFetch(domain:a.example)', 'pass'],
    ['Write', { file_path: '/home/ann/other/a' }, 'Edit(//home/ann/other/**)', 'pass'],
    ['Read', { file_path: '/etc/hosts' }, 'Read(//etc/**)', 'pass'],
    ['Read', { file_path: `${FOLDER}/.env` }, `Read(/${FOLDER}/.env)`, 'pass'],
    // Of these Claude Code runs some without a question.
    ['Read', { file_path: `${FOLDER}/.env` }, 'Read(docs/**)', 'ask'],
    ['Skill', { skill: 'safe' }, 'Skill(deploy)', 'ask'],
    ['WebFetch', { url: 'https://b.example/' }, 'WebFetch(domain:*.a.example)', 'ask'],
  ])('%s %j with a rule that allows %s: %s', (tool, input, rule, expected) => {
    expect(verdictOn(tool, input)).toMatch(/^ask/);
    const rules = [{ rule, verdict: 'allow' as const, reason: 'so' }];
    expect(verdictOn(tool, input, { rules })).toMatch(new RegExp(`^${expected}`));
  });

  it('a command is left to Claude Code, unless it names secrets', () => {
    for (const command of ['npm test', 'cat .env.example', 'cat id_rsa.pub', 'cat src/auth/index.ts'])
      expect(verdictOn('Bash', { command })).toMatch(/^pass/);
    expect(verdictOn('Bash', { command: 'cat .env' })).toMatch(/^ask: it names .env,/);
    expect(verdictOn('Monitor', { command: 'cat ~/.ssh/id_rsa' })).toMatch(/^ask/);
  });

  it('the network, other sessions, later turns and unknown tools are asked about', () => {
    expect(verdictOn('WebFetch', { url: 'https://example.com' })).toMatch(/^ask/);
    expect(verdictOn('SendMessage', { to: 'a1', message: 'm' })).toMatch(/^ask/);
    expect(verdictOn('CronCreate', { prompt: 'p' })).toMatch(/^ask/);
    expect(verdictOn('Teleport', {})).toMatch(/^ask: .*does not know/);
  });
});

describe('in mode auto', () => {
  const auto = { mode: 'auto' } as const;

  it('all is allowed that no rule mentions, but edits of the bridge’s own files', () => {
    expect(verdictOn('Bash', { command: 'rm -rf /' }, auto)).toMatch(/^allow/);
    expect(edit('/home/ann/.state/x', auto)).toMatch(/^deny/);
  });

  it('a message reaches the session’s own agents alone, unless a rule allows more', () => {
    expect(verdictOn('SendMessage', { to: 'a1' }, auto)).toMatch(/^allow/);
    expect(verdictOn('SendMessage', { to: 'another' }, auto)).toMatch(/^ask/);
    const rules = [{ rule: 'SendMessage', verdict: 'allow', reason: '' }] as const;
    expect(verdictOn('SendMessage', { to: 'another' }, { ...auto, rules })).toMatch(/^pass/);
  });

  it('a command that mentions a rule is asked about by its name, and with any rule an unknown tool is', () => {
    const rules = [{ rule: 'Bash(touch:*)', verdict: 'deny', reason: 'no files' }] as const;
    expect(verdictOn('Monitor', { command: 'sh -c "touch x"' }, { ...auto, rules })).toBe(
      'ask: your rule Bash(touch:*): no files',
    );
    expect(verdictOn('Teleport', {}, { ...auto, rules })).toMatch(/^ask/);
    expect(verdictOn('Teleport', {}, auto)).toMatch(/^allow/);
  });
});

it('in mode sandboxed a command runs, unless it leaves the sandbox', () => {
  const sandboxed = { mode: 'sandboxed' } as const;
  expect(verdictOn('Bash', { command: 'cat .env' }, sandboxed)).toMatch(/^allow/);
  expect(verdictOn('Bash', { command: 'ls', dangerouslyDisableSandbox: true }, sandboxed)).toMatch(/^ask/);
});

describe('in mode claude', () => {
  const mode = 'claude';

  it('Claude Code decides, but about the bridge’s own files, your rules and messages to other sessions', () => {
    expect(verdictOn('Bash', { command: 'cat .env' }, { mode })).toMatch(/^pass/);
    expect(verdictOn('Brand New', {}, { mode })).toMatch(/^pass/);
    expect(edit('/etc/passwd', { mode })).toMatch(/^pass/);
    expect(edit('/home/ann/.state/x', { mode })).toMatch(/^deny/);
    expect(verdictOn('SendMessage', { to: 'another' }, { mode })).toMatch(/^ask/);
    const rules = [{ rule: 'Bash(git push *)', verdict: 'ask', reason: 'A person pushes.' }] as const;
    expect(verdictOn('Bash', { command: 'git push' }, { mode, rules })).toMatch(/^ask/);
  });
});
