import { describe, expect, test } from 'vitest';
import { decide, type ApprovalKind, type ApprovalMode } from '../../src/approvals/decide.js';
import { defaultRules } from '../../src/approvals/default-rules.js';

type Row = readonly [
  mode: ApprovalMode,
  kind: ApprovalKind,
  tool: string,
  paths: readonly string[],
  expected: string,
];

function answer(mode: ApprovalMode, kind: ApprovalKind, tool: string, paths: readonly string[]): string {
  const { verdict, rule } = decide({ mode, kind, tool, projectPath: '/home/me/p', paths }, defaultRules);
  return `${verdict} ${rule}`;
}

/** For each rule what it matches, and what it almost matches. */
const rows: readonly Row[] = [
  ['auto', 'permission', 'Bash', [], 'allow auto-permission'],
  ['auto', 'permission', 'mcp__x__y', [], 'allow auto-permission'],
  ['auto', 'permission', 'Write', ['/etc/passwd'], 'allow auto-permission'],
  ['cautious', 'permission', 'Bash', [], 'ask no-rule'],
  ['auto', 'permission', 'AskUserQuestion', [], 'ask question-as-tool'],
  ['auto', 'permission', 'AskUserQuestions', [], 'allow auto-permission'],

  ['auto', 'plan', 'ExitPlanMode', [], 'allow auto-plan'],
  ['cautious', 'plan', 'ExitPlanMode', [], 'ask cautious-plan'],

  ['auto', 'trust', 'trust-folder', [], 'allow auto-trust-folder'],
  ['auto', 'trust', 'trust-folder-parent', [], 'ask no-rule'],
  ['cautious', 'trust', 'trust-folder', [], 'ask cautious-trust'],

  ['auto', 'trust', 'project-mcp-server', [], 'allow auto-project-mcp-server'],
  ['auto', 'prompt', 'project-mcp-server', [], 'ask start-prompt'],
  ['cautious', 'trust', 'project-mcp-server', [], 'ask cautious-trust'],

  ['auto', 'question', 'AskUserQuestion', [], 'ask question'],
  ['cautious', 'question', 'AskUserQuestion', [], 'ask question'],
  ['cautious', 'permission', 'AskUserQuestion', [], 'ask question-as-tool'],

  ['auto', 'prompt', 'api-key', [], 'ask start-prompt'],
  ['auto', 'prompt', 'bypass-warning', [], 'ask start-prompt'],
  ['cautious', 'prompt', 'api-key', [], 'ask start-prompt'],

  ['cautious', 'permission', 'Read', ['/home/me/p/a.ts'], 'allow cautious-read'],
  ['cautious', 'permission', 'NotebookRead', ['/home/me/p/a.ipynb'], 'allow cautious-read'],
  ['cautious', 'permission', 'Read', ['/home/me/.ssh/id_ed25519'], 'ask cautious-secret'],
  ['cautious', 'permission', 'Read', [], 'ask no-rule'],
  ['cautious', 'permission', 'ReadMcpResource', ['/home/me/p/a.ts'], 'ask no-rule'],
  ['cautious', 'question', 'Read', ['/home/me/p/a.ts'], 'ask question'],

  ['cautious', 'permission', 'Grep', [], 'allow cautious-search'],
  ['cautious', 'permission', 'LS', ['/home/me/p'], 'allow cautious-search'],
  ['cautious', 'permission', 'Glob', ['/home/me/p/src'], 'allow cautious-search'],
  ['cautious', 'permission', 'Glob', ['/home/me'], 'ask cautious-outside'],
  ['cautious', 'permission', 'Grep', ['/home/me/p/src', '/etc'], 'ask cautious-outside'],

  ['cautious', 'permission', 'Write', ['/home/me/p/src/a.ts'], 'allow cautious-edit'],
  ['cautious', 'permission', 'Edit', ['/home/me/p/a.ts'], 'allow cautious-edit'],
  ['cautious', 'permission', 'MultiEdit', ['/home/me/p/a', '/home/me/p/b'], 'allow cautious-edit'],
  ['cautious', 'permission', 'NotebookEdit', ['/home/me/p/a.ipynb'], 'allow cautious-edit'],
  ['cautious', 'permission', 'Edit', ['/home/me/p/..a'], 'allow cautious-edit'],
  ['cautious', 'permission', 'Edit', ['/home/me/p/.gitignore'], 'allow cautious-edit'],
  ['cautious', 'permission', 'Edit', ['/home/me/p/src/git/hooks/a'], 'allow cautious-edit'],
  ['cautious', 'permission', 'Write', [], 'ask no-rule'],
  ['cautious', 'permission', 'Write', ['/home/me/p'], 'ask cautious-outside'],
  ['cautious', 'permission', 'Write', ['/home/me/pp/a.ts'], 'ask cautious-outside'],
  ['cautious', 'permission', 'Write', ['/home/me/a.ts'], 'ask cautious-outside'],
  ['cautious', 'permission', 'Write', ['src/a.ts'], 'ask cautious-outside'],
  ['cautious', 'permission', 'Write', ['/home/me/p/../a.ts'], 'ask cautious-outside'],
  ['cautious', 'permission', 'MultiEdit', ['/home/me/p/a', '/home/me/b'], 'ask cautious-outside'],
  ['cautious', 'permission', 'WriteFile', ['/home/me/p/a.ts'], 'ask no-rule'],
  ['cautious', 'permission', 'Write', ['/home/me/p/.git/hooks/pre-commit'], 'ask cautious-protected'],
  ['cautious', 'permission', 'Write', ['/home/me/p/.git'], 'ask cautious-protected'],
  ['cautious', 'permission', 'Write', ['/home/me/p/sub/.GIT/config'], 'ask cautious-protected'],
  ['cautious', 'permission', 'Write', ['/home/me/p/.g\u200cit/config'], 'ask cautious-protected'],
  ['cautious', 'permission', 'Write', ['/home/me/p/.claude/settings.json'], 'ask cautious-protected'],
  ['cautious', 'permission', 'Write', ['/home/me/p/.claude/settings.local.json'], 'ask cautious-protected'],
  ['cautious', 'permission', 'Write', ['/home/me/p/.mcp.json'], 'ask cautious-protected'],
  ['cautious', 'permission', 'Write', ['/home/me/p/.vscode/tasks.json'], 'ask cautious-protected'],
  ['cautious', 'permission', 'Write', ['/home/me/p/.envrc'], 'ask cautious-protected'],
  ['cautious', 'permission', 'Write', ['/home/me/p/CLAUDE.md'], 'ask cautious-protected'],
  ['cautious', 'permission', 'Write', ['/home/me/p/.github/workflows/ci.yml'], 'ask cautious-protected'],
  ['cautious', 'permission', 'Read', ['/home/me/p/CLAUDE.md'], 'allow cautious-read'],
  ['cautious', 'permission', 'Read', ['/home/me/p/config/credentials.json'], 'ask cautious-secret'],

  ['cautious', 'permission', 'Read', ['/home/me/p/.env'], 'ask cautious-secret'],
  ['cautious', 'permission', 'Read', ['/home/me/p/.env.local'], 'ask cautious-secret'],
  ['cautious', 'permission', 'Read', ['/home/me/p/.env.example'], 'allow cautious-read'],
  ['cautious', 'permission', 'Read', ['/home/me/p/src/environment.ts'], 'allow cautious-read'],
  ['cautious', 'permission', 'Read', ['/home/me/p/certs/server.PEM'], 'ask cautious-secret'],
  ['cautious', 'permission', 'Grep', ['/home/me/p/.aws'], 'ask cautious-secret'],
  ['cautious', 'permission', 'Edit', ['/home/me/p/.env'], 'ask cautious-secret'],
  ['cautious', 'permission', 'WebSearch', [], 'ask cautious-network'],

  ['cautious', 'permission', 'TodoWrite', [], 'allow cautious-bookkeeping'],
  ['cautious', 'permission', 'TaskUpdate', [], 'allow cautious-bookkeeping'],
  ['cautious', 'permission', 'Task', [], 'ask no-rule'],
  ['cautious', 'permission', 'TaskStop', [], 'ask no-rule'],
  ['cautious', 'permission', 'WebFetch', [], 'ask cautious-network'],
  ['cautious', 'permission', 'mcp__files__Read', ['/home/me/p/a.ts'], 'ask no-rule'],

  ['sandboxed', 'permission', 'SandboxNetworkAccess', [], 'deny sandbox-network'],
  ['cautious', 'permission', 'SandboxNetworkAccess', [], 'ask no-rule'],
  ['sandboxed', 'permission', 'Write', ['/home/me/p/src/a.ts'], 'allow cautious-edit'],
  ['sandboxed', 'permission', 'Write', ['/home/me/p/CLAUDE.md'], 'ask cautious-protected'],
  ['sandboxed', 'permission', 'Read', ['/home/me/p/.env'], 'ask cautious-secret'],
  ['sandboxed', 'permission', 'Write', ['/home/me/a.ts'], 'ask cautious-outside'],
  ['sandboxed', 'permission', 'mcp__x__y', [], 'ask no-rule'],
  ['sandboxed', 'plan', 'ExitPlanMode', [], 'ask cautious-plan'],
  ['sandboxed', 'trust', 'trust-folder', [], 'ask cautious-trust'],
];

describe('the default rules', () => {
  test.each(rows)('%s, %s of %s on %j: %s with', (mode, kind, tool, paths, expected) => {
    expect(answer(mode, kind, tool, paths)).toBe(expected);
  });

  test('each has its own id, is matched by a row of this table, and gives a reason', () => {
    const ids = defaultRules.map((rule) => rule.id);
    expect(new Set(ids).size).toBe(ids.length);
    // Those of the tests below match by more than a row says.
    const matched = new Set([
      ...rows.map((row) => row[4].split(' ')[1]),
      'own-files',
      'cautious-search-secret',
    ]);
    expect(ids.filter((id) => !matched.has(id))).toEqual([]);
    expect(defaultRules.filter((rule) => rule.why === '')).toEqual([]);
  });

  test.each([
    ['/etc/passwd', 'the file is outside the project, and its name suggests that it holds secrets'],
    ['/home/me/p/.env', 'the file’s name suggests that it holds secrets'],
    ['/etc/hosts', 'the file is outside the project'],
  ])('of %s it is said why it is asked about', (path, reason) => {
    const request = {
      mode: 'cautious',
      kind: 'permission',
      tool: 'Read',
      projectPath: '/home/me/p',
    } as const;
    expect(decide({ ...request, paths: [path] }, defaultRules).reason).toBe(reason);
  });

  test('a project at the root of the file system contains every file', () => {
    const request = {
      mode: 'cautious',
      kind: 'permission',
      tool: 'Edit',
      projectPath: '/',
      paths: ['/a'],
    } as const;
    expect(decide(request, defaultRules).verdict).toBe('allow');
  });
});

describe('names of a file', () => {
  const judged = (tool: string, request: Partial<Parameters<typeof decide>[0]>) => {
    const { verdict, rule } = decide(
      { mode: 'cautious', kind: 'permission', tool, projectPath: '/home/me/p', paths: [], ...request },
      defaultRules,
    );
    return `${verdict} ${rule}`;
  };
  const plain = ['/home/me/p/docs/a.md'];

  test('count as written, too: a link named like a file that runs later is asked about', () => {
    expect(judged('Edit', { paths: plain })).toBe('allow cautious-edit');
    expect(judged('Edit', { paths: plain, named: ['/home/me/p/CLAUDE.md'] })).toBe('ask cautious-protected');
    expect(judged('Read', { paths: plain, named: ['/home/me/p/.env'] })).toBe('ask cautious-secret');
    expect(judged('Read', { paths: plain, named: ['/home/me/p/link.md'] })).toBe('allow cautious-read');
  });

  test('of the bridge itself deny edits in both modes, whatever their case, and nothing else', () => {
    const ownPlaces = ['/home/me/p/state', '/home/me/p/bridge.json'];
    for (const mode of ['auto', 'cautious'] as const) {
      for (const path of ['/home/me/p/state', '/home/me/p/State/tasks/x', '/home/me/p/bridge.json'])
        expect(judged('Write', { mode, paths: [path], ownPlaces })).toBe('deny own-files');
      expect(judged('Read', { mode, paths: ['/home/me/p/state/x'], ownPlaces })).toMatch(/^allow /);
      expect(judged('Write', { mode, paths: ['/home/me/p/stated'], ownPlaces })).toMatch(/^allow /);
    }
  });

  test('that a search may find: a search among secrets is asked about', () => {
    expect(judged('Grep', { searchedSecret: undefined })).toBe('allow cautious-search');
    expect(judged('Grep', { searchedSecret: '.env is in the folder that it searches' })).toBe(
      'ask cautious-search-secret',
    );
  });
});
