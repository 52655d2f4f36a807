import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runInitWithEnv } from '../init-entry.js';
import { gemini as generateContent } from '../models/gemini.js';
import { REQUEST, type CommandLineClient } from './command-line.js';

export const gemini: CommandLineClient = {
  key: 'gemini',
  initId: 'gemini-cli',
  apis: [generateContent],
  start: async ({ bridge, installed, modelUrl }) => {
    const home = join(bridge.workplace.homeDir, '.gemini');
    await mkdir(home);
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    };
    const file = join(home, 'settings.json');
    await writeFile(file, JSON.stringify(settings));
    await runInitWithEnv(bridge, 'gemini-cli', { file, serversKey: 'mcpServers' });
    const { folder, name, node } = installed;
    const program = join(folder, 'node_modules', name, 'bundle/gemini.js');
    return {
      command: [
        node,
        program,
        '--approval-mode',
        'yolo',
        '-m',
        'gemini-2.5-pro',
        '-p',
        `/delegate ${REQUEST}`,
      ],
      env: { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: modelUrl, GEMINI_CLI_NO_RELAUNCH: 'true' },
    };
  },
  first: function* () {
    yield { name: 'list_mcp_resources', args: {} };
    yield { name: 'read_mcp_resource', args: { uri: 'config://current' } };
  },
  check: ({ calls, requests }, bridge) => {
    expect(calls[0]?.answer).toContain('config://current');
    expect(calls[1]?.answer).toContain(bridge.workplace.projectsDir);
    expect(requests.find(({ tools }) => tools.length > 0)?.text).toContain('Hand this piece of work');
    return { resources: 'listed, read', prompts: 'as slash commands' };
  },
  lacks: [],
};
