import { join } from 'node:path';
import { expect } from 'vitest';
import { instructionsFor } from '../../../../src/tools/instructions.js';
import { runInitWithEnv } from '../init-entry.js';
import { chatCompletions } from '../models/chat-completions.js';
import { REQUEST, type CommandLineClient } from './command-line.js';

/** The first sentence of what the server says of itself. */
const [INSTRUCTION = ''] = instructionsFor('all').split('\n');

export const copilot: CommandLineClient = {
  key: 'copilot',
  initId: 'copilot-cli',
  apis: [chatCompletions],
  start: async ({ bridge, installed, modelUrl }) => {
    const file = join(bridge.workplace.homeDir, '.copilot', 'mcp-config.json');
    await runInitWithEnv(bridge, 'copilot-cli', { file, serversKey: 'mcpServers' });
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
  check: ({ offered, requests }) => {
    expect([...offered].filter((name) => name.includes('resource'))).toEqual([]);
    expect(requests.filter(({ text }) => text.includes(INSTRUCTION))).toEqual([]);
    return {};
  },
  lacks: [
    'Its model has no tools for resources, and does not see the instructions of servers.',
    'Without a person (`-p`) it declines every form at once; the bridge takes that for no answer.',
    'It passes both forms of an answer to its model, so the bridge gives it text alone.',
  ],
};
