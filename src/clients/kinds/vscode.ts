import { join } from 'node:path';
import { plainEntry, type ChatClient, type ClientPlace } from '../chat-client.js';
import { SERVER_NAME } from '../server-command.js';
import { desktopConfig } from '../user-folders.js';

export const vscode: ChatClient = {
  id: 'vscode',
  title: 'VS Code',
  format: 'json',
  serversKey: 'servers',
  settingsFiles: (place) => [join(userFolder(place), 'mcp.json')],
  traces: (place) => [userFolder(place)],
  programs: ['code'],
  entry: (command) => ({ type: 'stdio', ...plainEntry(command) }),
  next: 'VS Code asks whether you trust it when a chat first uses it.',
  byHand: 'In VS Code: command "MCP: Open User Configuration".',
  source: 'https://code.visualstudio.com/docs/copilot/customization/mcp-servers',
  link: (command) => {
    const server = JSON.stringify({ name: SERVER_NAME, ...plainEntry(command) });
    const address = `vscode:mcp/install?${encodeURIComponent(server)}`;
    return `https://insiders.vscode.dev/redirect?url=${encodeURIComponent(address)}`;
  },
};

function userFolder(place: ClientPlace): string {
  return join(desktopConfig(place), 'Code', 'User');
}
