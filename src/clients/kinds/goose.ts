import { join } from 'node:path';
import type { ChatClient, ClientPlace } from '../chat-client.js';
import { SERVER_NAME } from '../server-command.js';
import { xdgConfig } from '../user-folders.js';

const TIMEOUT_SECONDS = 300;
const DESCRIPTION = 'Delegate tasks to Claude Code';

export const goose: ChatClient = {
  id: 'goose',
  title: 'Goose',
  format: 'yaml',
  serversKey: 'extensions',
  settingsFiles: (place) => [join(folder(place), 'config.yaml')],
  traces: (place) => [folder(place)],
  programs: ['goose'],
  entry: ({ command, args }) => ({
    enabled: true,
    type: 'stdio',
    name: SERVER_NAME,
    description: DESCRIPTION,
    cmd: command,
    args: [...args],
    envs: {},
    timeout: TIMEOUT_SECONDS,
  }),
  next: 'Sessions of Goose that start from now on use it.',
  source: 'https://block.github.io/goose/docs/guides/config-files',
  link: ({ command, args }) => {
    const words = [
      ['cmd', command],
      ...args.map((arg) => ['arg', arg]),
      ['id', SERVER_NAME],
      ['name', SERVER_NAME],
      ['description', DESCRIPTION],
    ];
    const query = words.map(([key = '', value = '']) => `${key}=${encodeURIComponent(value)}`).join('&');
    return `https://block.github.io/goose/extension?${query}`;
  },
};

function folder(place: ClientPlace): string {
  return join(xdgConfig(place), 'goose');
}
