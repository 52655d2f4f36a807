import { join } from 'node:path';
import { plainEntry, type ChatClient, type ClientPlace } from '../chat-client.js';

export const copilotCli: ChatClient = {
  id: 'copilot-cli',
  title: 'Copilot CLI',
  format: 'json',
  serversKey: 'mcpServers',
  settingsFiles: (place) => [join(folder(place), 'mcp-config.json')],
  traces: (place) => [folder(place)],
  programs: ['copilot'],
  entry: (command) => ({ type: 'local', ...plainEntry(command), tools: ['*'] }),
  next: 'Sessions of Copilot CLI that start from now on use it.',
  source: 'https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers',
};

function folder({ env, homeDir }: ClientPlace): string {
  return env['COPILOT_HOME'] || join(homeDir, '.copilot');
}
