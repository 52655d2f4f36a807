import { join } from 'node:path';
import { plainEntry, type ChatClient } from '../chat-client.js';

export const geminiCli: ChatClient = {
  id: 'gemini-cli',
  title: 'Gemini CLI',
  format: 'json',
  serversKey: 'mcpServers',
  settingsFiles: ({ homeDir }) => [join(homeDir, '.gemini', 'settings.json')],
  traces: ({ homeDir }) => [join(homeDir, '.gemini', 'settings.json')],
  programs: ['gemini'],
  entry: plainEntry,
  next: 'Sessions of Gemini CLI that start from now on use it, in folders that you trust (/permissions).',
  source: 'https://geminicli.com/docs/tools/mcp-server/',
};
