import { join } from 'node:path';
import { plainEntry, type ChatClient, type ClientPlace } from '../chat-client.js';
import { desktopConfig } from '../user-folders.js';

const FILE = 'claude_desktop_config.json';

/** Inside WSL it is the one of Windows, which starts the server in WSL. */
export const claudeDesktop: ChatClient = {
  id: 'claude-desktop',
  title: 'Claude Desktop',
  format: 'json',
  serversKey: 'mcpServers',
  settingsFiles: (place) => folders(place).map((folder) => join(folder, FILE)),
  traces: folders,
  programs: [],
  entry: (command, { windowsHome }) =>
    windowsHome === undefined
      ? plainEntry(command)
      : { command: 'wsl.exe', args: ['-e', command.command, ...command.args] },
  next: 'Restart Claude Desktop to use it.',
  source: 'https://modelcontextprotocol.io/docs/develop/connect-local-servers',
};

function folders(place: ClientPlace): readonly string[] {
  if (place.windowsHome !== undefined) return [join(place.windowsHome, 'AppData', 'Roaming', 'Claude')];
  return place.platform === 'darwin' || place.platform === 'linux'
    ? [join(desktopConfig(place), 'Claude')]
    : [];
}
