import { join } from 'node:path';
import { plainEntry, type ChatClient, type ClientPlace } from '../chat-client.js';

/** The first start by npx downloads the package. */
const START_SECONDS = 60;

export const codex: ChatClient = {
  id: 'codex',
  title: 'Codex',
  format: 'toml',
  serversKey: 'mcp_servers',
  settingsFiles: (place) => [join(folder(place), 'config.toml')],
  traces: (place) => [folder(place)],
  programs: ['codex'],
  entry: (command) => ({ ...plainEntry(command), startup_timeout_sec: START_SECONDS }),
  next: 'Sessions of Codex that start from now on use it.',
  source: 'https://developers.openai.com/codex/mcp',
};

function folder({ env, homeDir }: ClientPlace): string {
  return env['CODEX_HOME'] || join(homeDir, '.codex');
}
