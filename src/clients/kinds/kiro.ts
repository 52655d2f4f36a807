import { join } from 'node:path';
import { plainEntry, type ChatClient } from '../chat-client.js';
import { SERVER_NAME } from '../server-command.js';

export const kiro: ChatClient = {
  id: 'kiro',
  title: 'Kiro',
  format: 'json',
  serversKey: 'mcpServers',
  settingsFiles: ({ homeDir }) => [join(homeDir, '.kiro', 'settings', 'mcp.json')],
  traces: ({ homeDir }) => [join(homeDir, '.kiro')],
  programs: ['kiro', 'kiro-cli'],
  entry: plainEntry,
  next: 'Kiro starts it at once: see MCP Servers in its panel.',
  source: 'https://kiro.dev/docs/mcp/configuration/',
  link: (command) =>
    `https://kiro.dev/launch/mcp/add?name=${SERVER_NAME}&config=${encodeURIComponent(JSON.stringify(plainEntry(command)))}`,
};
