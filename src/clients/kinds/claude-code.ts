import { join } from 'node:path';
import { plainEntry, type ChatClient, type ClientPlace } from '../chat-client.js';

export const claudeCode: ChatClient = {
  id: 'claude-code',
  title: 'Claude Code',
  format: 'json',
  serversKey: 'mcpServers',
  settingsFiles: (place) => [settingsFile(place)],
  traces: (place) => [settingsFile(place)],
  programs: ['claude'],
  entry: (command) => ({ type: 'stdio', ...plainEntry(command), env: {} }),
  next: 'Sessions of Claude Code that start from now on use it.',
  source: 'https://code.claude.com/docs/en/mcp',
};

function settingsFile({ env, homeDir }: ClientPlace): string {
  return join(env['CLAUDE_CONFIG_DIR'] || homeDir, '.claude.json');
}
