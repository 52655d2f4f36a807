import { join } from 'node:path';
import { plainEntry, type ChatClient } from '../chat-client.js';
import { SERVER_NAME } from '../server-command.js';

export const cursor: ChatClient = {
  id: 'cursor',
  title: 'Cursor',
  format: 'json',
  serversKey: 'mcpServers',
  settingsFiles: ({ homeDir }) => [join(homeDir, '.cursor', 'mcp.json')],
  traces: ({ homeDir }) => [join(homeDir, '.cursor')],
  programs: ['cursor', 'cursor-agent'],
  entry: plainEntry,
  next: 'Turn it on in Cursor: Settings, MCP.',
  source: 'https://cursor.com/docs/context/mcp',
  link: (command) => {
    const config = Buffer.from(JSON.stringify(plainEntry(command))).toString('base64');
    return `https://cursor.com/en/install-mcp?name=${SERVER_NAME}&config=${encodeURIComponent(config)}`;
  },
};
