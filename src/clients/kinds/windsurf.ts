import { join } from 'node:path';
import { plainEntry, type ChatClient } from '../chat-client.js';

export const windsurf: ChatClient = {
  id: 'windsurf',
  title: 'Windsurf',
  format: 'json',
  serversKey: 'mcpServers',
  settingsFiles: ({ homeDir }) => [join(homeDir, '.codeium', 'windsurf', 'mcp_config.json')],
  traces: ({ homeDir }) => [join(homeDir, '.codeium', 'windsurf')],
  programs: ['windsurf'],
  entry: plainEntry,
  next: 'Press Refresh in the MCP settings of Windsurf.',
  source: 'https://docs.windsurf.com/windsurf/cascade/mcp',
};
