import { join } from 'node:path';
import { plainEntry, type ChatClient } from '../chat-client.js';
import { desktopConfig } from '../user-folders.js';

/** The agent Junie reads a file; the AI Assistant has a form, which takes the same JSON. */
export const jetbrains: ChatClient = {
  id: 'jetbrains',
  title: 'JetBrains (Junie)',
  format: 'json',
  serversKey: 'mcpServers',
  settingsFiles: ({ homeDir }) => [join(homeDir, '.junie', 'mcp', 'mcp.json')],
  traces: (place) => [join(place.homeDir, '.junie'), join(desktopConfig(place), 'JetBrains')],
  programs: ['junie'],
  entry: plainEntry,
  next: 'Junie uses it from its next start. For the AI Assistant, add the same entry in Settings, Tools, AI Assistant, Model Context Protocol (MCP).',
  byHand: 'For the AI Assistant: Settings, Tools, AI Assistant, Model Context Protocol (MCP), Add, As JSON.',
  source: 'https://www.jetbrains.com/help/junie/model-context-protocol-mcp.html',
};
