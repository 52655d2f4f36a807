import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runInitWithEnv } from '../init-entry.js';
import { chatCompletions } from '../models/chat-completions.js';
import { REQUEST, type CommandLineClient } from './command-line.js';

/** A prompt of the server. */
const PROMPT = 'claude-code-bridge:delegate';

export const opencode: CommandLineClient = {
  key: 'opencode',
  initId: 'opencode',
  apis: [chatCompletions],
  start: async ({ bridge, installed, modelUrl }) => {
    const folder = join(bridge.workplace.homeDir, '.config', 'opencode');
    await mkdir(folder, { recursive: true });
    const settings = {
      $schema: 'https://opencode.ai/config.json',
      autoupdate: false,
      share: 'disabled',
      permission: 'allow',
      provider: {
        scripted: {
          npm: '@ai-sdk/openai-compatible',
          name: 'Scripted',
          options: { baseURL: `${modelUrl}/v1`, apiKey: 'none' },
          models: {
            scripted: { name: 'Scripted', tool_call: true, limit: { context: 1_000_000, output: 8_000 } },
          },
        },
      },
    };
    const file = join(folder, 'opencode.json');
    await writeFile(file, JSON.stringify(settings));
    await runInitWithEnv(bridge, 'opencode', { file, serversKey: 'mcp', envKey: 'environment' });
    const program = join(installed.folder, 'node_modules', 'opencode-linux-x64', 'bin', 'opencode');
    return {
      command: [program, 'run', '--model', 'scripted/scripted', '--command', PROMPT, ...REQUEST.split(' ')],
      env: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
    };
  },
  first: function* () {
    yield { name: 'list_mcp_resources', args: {} };
    yield { name: 'read_mcp_resource', args: { server: 'claude-code-bridge', uri: 'config://current' } };
  },
  check: ({ calls, requests }, bridge) => {
    expect(calls[0]?.answer).toContain('config://current');
    expect(calls[1]?.answer).toContain(bridge.workplace.projectsDir);
    const shown = requests.find(({ tools }) => tools.length > 0)?.text;
    expect(shown).toContain(`<request>\n${REQUEST}\n</request>\n\nThe project is the one that we talk about`);
    return { resources: 'listed, read', prompts: 'as slash commands' };
  },
  lacks: [],
};
