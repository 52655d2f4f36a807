import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chatCompletions } from '../models/chat-completions.js';
import { REQUEST, type CommandLineClient } from './command-line.js';

export const copilot: CommandLineClient = {
  key: 'copilot',
  apis: [chatCompletions],
  start: async ({ bridge, installed, modelUrl }) => {
    const home = join(bridge.workplace.homeDir, '.copilot');
    await mkdir(home);
    const server = { type: 'local', tools: ['*'], timeout: 60_000, ...bridge.server };
    await writeFile(
      join(home, 'mcp-config.json'),
      JSON.stringify({ mcpServers: { 'claude-code-bridge': server } }),
    );
    const { folder, name, node } = installed;
    const program = join(folder, 'node_modules', name, 'npm-loader.js');
    return {
      command: [node, program, '--silent', '--allow-all-tools', '--trust-folder', '-p', REQUEST],
      env: {
        COPILOT_OFFLINE: 'true',
        COPILOT_AUTO_UPDATE: 'false',
        COPILOT_PROVIDER_BASE_URL: `${modelUrl}/v1`,
        COPILOT_MODEL: 'scripted',
      },
    };
  },
  check: () => ({}),
  lacks: ['Its model does not see the instructions of servers.'],
};
