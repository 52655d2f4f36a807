import { join } from 'node:path';
import { plainEntry, type ChatClient, type ClientPlace } from '../chat-client.js';
import { xdgConfig } from '../user-folders.js';

export const zed: ChatClient = {
  id: 'zed',
  title: 'Zed',
  format: 'json',
  serversKey: 'context_servers',
  settingsFiles: (place) => [join(folder(place), 'settings.json')],
  traces: (place) => [folder(place)],
  programs: ['zed', 'zeditor'],
  entry: (command) => ({ ...plainEntry(command), env: {} }),
  next: 'Zed starts it at once: see its Agent Panel, Settings.',
  source: 'https://zed.dev/docs/ai/mcp',
};

function folder(place: ClientPlace): string {
  return join(place.platform === 'darwin' ? join(place.homeDir, '.config') : xdgConfig(place), 'zed');
}
