import { expect, it } from 'vitest';
import { runSettings } from '../../src/claude/launch.js';
import { taskRules } from './verdict-of-edit.js';

const trust = {
  requestId: 'r1',
  kind: 'trust',
  tool: 'project-mcp-server',
  summary: "Use the project's MCP server db",
  input: {},
  options: [],
  source: 'observed',
} as const;

it('what a person trusts is not asked about again, by any task; without trust it is', () => {
  const check = (trusted: readonly string[]) => taskRules('/p', trusted).check(trust, 'cautious');
  for (const _ of [1, 2])
    expect(check(['/p/.mcp.json'])).toMatchObject({ verdict: 'allow', rule: 'trusted-project' });
  expect(check([])).toMatchObject({ verdict: 'ask' });
  expect(runSettings({ isTrusted: true })).toMatchObject({ enableAllProjectMcpServers: true });
  expect(runSettings({})).not.toHaveProperty('enableAllProjectMcpServers');
});
