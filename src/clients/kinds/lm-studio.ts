import { join } from 'node:path';
import { plainEntry, type ChatClient } from '../chat-client.js';
import { SERVER_NAME } from '../server-command.js';

export const lmStudio: ChatClient = {
  id: 'lm-studio',
  title: 'LM Studio',
  format: 'json',
  serversKey: 'mcpServers',
  settingsFiles: ({ homeDir }) => [join(homeDir, '.lmstudio', 'mcp.json')],
  traces: ({ homeDir }) => [join(homeDir, '.lmstudio')],
  programs: ['lms'],
  entry: plainEntry,
  next: 'Turn it on in LM Studio: Program, Integrations.',
  source: 'https://lmstudio.ai/docs/app/mcp',
  link: (command) => {
    const config = Buffer.from(JSON.stringify(plainEntry(command))).toString('base64');
    return `https://lmstudio.ai/install-mcp?name=${SERVER_NAME}&config=${encodeURIComponent(config)}`;
  },
};
