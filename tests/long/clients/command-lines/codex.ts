import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { printedEntry } from '../init-entry.js';
import { responses } from '../models/responses.js';
import { REQUEST, type CommandLineClient } from './command-line.js';

/** Keys and values as TOML; strings are written as in JSON. */
function toml(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
    .join('\n');
}

export const codex: CommandLineClient = {
  key: 'codex',
  initId: 'codex',
  apis: [responses],
  start: async ({ bridge, installed, modelUrl }) => {
    const home = join(bridge.workplace.homeDir, '.codex');
    await mkdir(home);
    const file = join(home, 'config.toml');
    const settings = [
      toml({ model: 'scripted', model_provider: 'scripted', check_for_update_on_startup: false }),
      '[model_providers.scripted]',
      toml({ name: 'scripted', base_url: `${modelUrl}/v1`, wire_api: 'responses' }),
    ];
    await writeFile(file, `${settings.join('\n')}\n`);
    await appendFile(file, await printedEntry(bridge, 'codex'));
    await appendFile(file, `\n[mcp_servers.claude-code-bridge.env]\n${toml(bridge.server.env)}\n`);
    const { folder, name } = installed;
    const program = join(folder, 'node_modules', name, 'bin/codex.js');
    const approval = 'mcp_servers.claude-code-bridge.default_tools_approval_mode="approve"';
    const options = ['-c', approval, '--skip-git-repo-check', '--sandbox', 'read-only', '--color', 'never'];
    return { command: [installed.node, program, 'exec', ...options, REQUEST], env: { CODEX_HOME: home } };
  },
  first: function* () {
    yield { name: 'list_mcp_resources', args: { server: 'claude-code-bridge' } };
    yield { name: 'read_mcp_resource', args: { server: 'claude-code-bridge', uri: 'config://current' } };
  },
  check: ({ calls }, bridge) => {
    expect(calls[0]?.answer).toContain('config://current');
    expect(calls[1]?.answer).toContain(bridge.workplace.projectsDir);
    return { resources: 'listed, read' };
  },
  lacks: [
    'It has no prompts of servers.',
    'Without a person (`codex exec`) it declines every form at once; the bridge takes that for no answer.',
  ],
};
