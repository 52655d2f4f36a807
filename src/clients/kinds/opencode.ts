import { join } from 'node:path';
import type { ChatClient, ClientPlace } from '../chat-client.js';
import { xdgConfig } from '../user-folders.js';

/** Longer than any call waits; without it, opencode gives the start of a server 5 s. */
const TIMEOUT_MS = 60_000;

export const opencode: ChatClient = {
  id: 'opencode',
  title: 'opencode',
  format: 'json',
  serversKey: 'mcp',
  settingsFiles: (place) =>
    ['opencode.json', 'opencode.jsonc', 'config.json'].map((name) => join(folder(place), name)),
  traces: (place) => [folder(place)],
  programs: ['opencode'],
  entry: ({ command, args }) => ({
    type: 'local',
    command: [command, ...args],
    enabled: true,
    timeout: TIMEOUT_MS,
  }),
  next: 'Sessions of opencode that start from now on use it.',
  source: 'https://opencode.ai/docs/mcp-servers/',
};

function folder(place: ClientPlace): string {
  return join(xdgConfig(place), 'opencode');
}
