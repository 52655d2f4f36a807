// Pure.
import { join } from 'node:path';
import type { ChatClient, ClientPlace, Entry } from './chat-client.js';
import { SERVER_NAME, type ServerCommand } from './server-command.js';

const DESKTOP_FILE = 'claude_desktop_config.json';
/** The first start of Codex by npx downloads the package. */
const CODEX_START_SECONDS = 60;
/** Longer than any call waits; without it, opencode gives the start of a server 5 s. */
const OPENCODE_TIMEOUT_MS = 60_000;
const GOOSE_TIMEOUT_SECONDS = 300;
const DESCRIPTION = 'Delegate tasks to Claude Code';

const atHome =
  (...names: readonly string[]) =>
  ({ homeDir }: ClientPlace): readonly string[] => [join(homeDir, ...names)];

type Usual = 'serversKey' | 'programs' | 'entry';

/** A client with what most of them have in common. */
function client(
  id: string,
  title: string,
  language: ChatClient['language'],
  more: Omit<ChatClient, 'id' | 'title' | 'language' | Usual> & Partial<Pick<ChatClient, Usual>>,
): ChatClient {
  return { id, title, language, serversKey: 'mcpServers', programs: [], entry: plainEntry, ...more };
}

/**
 * The one table of chat clients: `init`, `doctor`, and the table of the guide are made of it. A dialect that is named was tried
 * with the client of the tests, or its makers document it.
 */
export const chatClients: readonly ChatClient[] = [
  client('claude-desktop', 'Claude Desktop', 'json', {
    settingsFiles: (place) => desktopFolders(place).map((folder) => join(folder, DESKTOP_FILE)),
    // Inside WSL it is the one of Windows, which starts the server in WSL.
    entry: (command, { windowsHome }) =>
      windowsHome === undefined
        ? plainEntry(command)
        : { command: 'wsl.exe', args: ['-e', command.command, ...command.args] },
    next: 'Restart Claude Desktop to use it.',
    source: 'https://modelcontextprotocol.io/docs/develop/connect-local-servers',
  }),
  client('claude-code', 'Claude Code', 'json', {
    settingsFiles: claudeFiles,
    traces: claudeFiles,
    programs: ['claude'],
    entry: (command) => ({ type: 'stdio', ...plainEntry(command), env: {} }),
    next: 'Sessions of Claude Code that start from now on use it.',
    source: 'https://code.claude.com/docs/en/mcp',
  }),
  client('vscode', 'VS Code', 'jsonc', {
    serversKey: 'servers',
    settingsFiles: (place) => [join(desktopConfig(place), 'Code', 'User', 'mcp.json')],
    programs: ['code'],
    entry: (command) => ({ type: 'stdio', ...plainEntry(command) }),
    next: 'VS Code asks whether you trust it when a chat first uses it.',
    byHand: 'In VS Code: command "MCP: Open User Configuration".',
    source: 'https://code.visualstudio.com/docs/copilot/customization/mcp-servers',
  }),
  client('cursor', 'Cursor', 'unknown', {
    settingsFiles: atHome('.cursor', 'mcp.json'),
    programs: ['cursor', 'cursor-agent'],
    next: 'Turn it on in Cursor: Settings, MCP.',
    source: 'https://cursor.com/docs/context/mcp',
  }),
  client('windsurf', 'Windsurf', 'unknown', {
    settingsFiles: atHome('.codeium', 'windsurf', 'mcp_config.json'),
    programs: ['windsurf'],
    next: 'Press Refresh in the MCP settings of Windsurf.',
    source: 'https://docs.windsurf.com/windsurf/cascade/mcp',
  }),
  client('zed', 'Zed', 'jsonc', {
    serversKey: 'context_servers',
    settingsFiles: (place) => [
      join(
        place.platform === 'darwin' ? join(place.homeDir, '.config') : xdgConfig(place),
        'zed/settings.json',
      ),
    ],
    programs: ['zed', 'zeditor'],
    entry: (command) => ({ ...plainEntry(command), env: {} }),
    next: 'Zed starts it at once: see its Agent Panel, Settings.',
    source: 'https://zed.dev/docs/ai/mcp',
  }),
  client('jetbrains', 'JetBrains (Junie)', 'unknown', {
    // The agent Junie reads a file; the AI Assistant has a form, which takes the same JSON.
    settingsFiles: atHome('.junie', 'mcp', 'mcp.json'),
    traces: (place) => [join(place.homeDir, '.junie'), join(desktopConfig(place), 'JetBrains')],
    programs: ['junie'],
    next: 'Junie uses it from its next start. For the AI Assistant, add the same entry in Settings, Tools, AI Assistant, Model Context Protocol (MCP).',
    byHand:
      'For the AI Assistant: Settings, Tools, AI Assistant, Model Context Protocol (MCP), Add, As JSON.',
    source: 'https://www.jetbrains.com/help/junie/model-context-protocol-mcp.html',
  }),
  client('lm-studio', 'LM Studio', 'unknown', {
    settingsFiles: atHome('.lmstudio', 'mcp.json'),
    programs: ['lms'],
    next: 'Turn it on in LM Studio: Program, Integrations.',
    source: 'https://lmstudio.ai/docs/app/mcp',
  }),
  client('codex', 'Codex', 'toml', {
    serversKey: 'mcp_servers',
    settingsFiles: ({ env, homeDir }) => [join(env['CODEX_HOME'] || join(homeDir, '.codex'), 'config.toml')],
    programs: ['codex'],
    entry: (command) => ({ ...plainEntry(command), startup_timeout_sec: CODEX_START_SECONDS }),
    ownCommand: 'codex mcp',
    next: 'Sessions of Codex that start from now on use it. If the first start takes too long, set startup_timeout_sec = 60 in its table.',
    source: 'https://developers.openai.com/codex/mcp',
  }),
  client('gemini-cli', 'Gemini CLI', 'comments', {
    settingsFiles: atHome('.gemini', 'settings.json'),
    traces: atHome('.gemini', 'settings.json'),
    programs: ['gemini'],
    next: 'Sessions of Gemini CLI that start from now on use it, in folders that you trust (/permissions).',
    source: 'https://geminicli.com/docs/tools/mcp-server/',
  }),
  client('opencode', 'opencode', 'jsonc', {
    serversKey: 'mcp',
    settingsFiles: (place) =>
      ['opencode.json', 'opencode.jsonc', 'config.json'].map((name) =>
        join(xdgConfig(place), 'opencode', name),
      ),
    programs: ['opencode'],
    entry: ({ command, args }) => ({
      type: 'local',
      command: [command, ...args],
      enabled: true,
      timeout: OPENCODE_TIMEOUT_MS,
    }),
    next: 'Sessions of opencode that start from now on use it.',
    source: 'https://opencode.ai/docs/mcp-servers/',
  }),
  client('goose', 'Goose', 'yaml', {
    serversKey: 'extensions',
    settingsFiles: (place) => [join(xdgConfig(place), 'goose', 'config.yaml')],
    programs: ['goose'],
    entry: ({ command, args }) => ({
      enabled: true,
      type: 'stdio',
      name: SERVER_NAME,
      description: DESCRIPTION,
      cmd: command,
      args: [...args],
      envs: {},
      timeout: GOOSE_TIMEOUT_SECONDS,
    }),
    next: 'Sessions of Goose that start from now on use it.',
    source: 'https://block.github.io/goose/docs/guides/config-files',
  }),
  client('kiro', 'Kiro', 'unknown', {
    settingsFiles: atHome('.kiro', 'settings', 'mcp.json'),
    traces: atHome('.kiro'),
    programs: ['kiro', 'kiro-cli'],
    next: 'Kiro starts it at once: see MCP Servers in its panel.',
    source: 'https://kiro.dev/docs/mcp/configuration/',
  }),
  client('copilot-cli', 'Copilot CLI', 'jsonc', {
    settingsFiles: ({ env, homeDir }) => [
      join(env['COPILOT_HOME'] || join(homeDir, '.copilot'), 'mcp-config.json'),
    ],
    programs: ['copilot'],
    entry: (command) => ({ type: 'local', ...plainEntry(command), tools: ['*'] }),
    next: 'Sessions of Copilot CLI that start from now on use it.',
    source: 'https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers',
  }),
];

function plainEntry({ command, args }: ServerCommand): Entry {
  return { command, args: [...args] };
}

function claudeFiles({ env, homeDir }: ClientPlace): readonly string[] {
  return [join(env['CLAUDE_CONFIG_DIR'] || homeDir, '.claude.json')];
}

function desktopFolders(place: ClientPlace): readonly string[] {
  if (place.windowsHome !== undefined) return [join(place.windowsHome, 'AppData', 'Roaming', 'Claude')];
  return place.platform === 'darwin' || place.platform === 'linux'
    ? [join(desktopConfig(place), 'Claude')]
    : [];
}

/** The user's folder for settings by the XDG rules, which many programs follow on macOS too. */
function xdgConfig({ env, homeDir }: ClientPlace): string {
  const folder = env['XDG_CONFIG_HOME'];
  return folder !== undefined && folder.startsWith('/') ? folder : join(homeDir, '.config');
}

/** The folder where desktop programs keep their settings. */
function desktopConfig(place: ClientPlace): string {
  return place.platform === 'darwin'
    ? join(place.homeDir, 'Library', 'Application Support')
    : xdgConfig(place);
}
