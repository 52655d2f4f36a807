import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { chatClients } from '../../src/clients/chat-clients.js';
import { dialectOf, howToAdd, type ChatClient, type ClientPlace } from '../../src/clients/chat-client.js';
import { npxServerCommand } from '../harness/npx-server-command.js';
import { runInit } from '../../src/cli/init/init.js';
import { tempFolder } from '../harness/temp-folder.js';

type InitOptions = Parameters<typeof runInit>[0];

/** Those whose settings `init` edits. */
const edited = chatClients.filter((client) => dialectOf(client) !== undefined);

let place: ClientPlace;
beforeEach(async () => {
  place = { platform: 'linux', homeDir: await tempFolder(), env: {} };
});

/** `init` without a terminal: its exit code and what it said. */
async function init(options: Partial<InitOptions>): Promise<{ exitCode: number; said: string }> {
  let said = '';
  const say = (text: string): void => void (said += `${text}\n`);
  const settingsFile = join(place.homeDir, 'config.json');
  const exitCode = await runInit({
    ...{ write: say, writeError: say, questions: undefined, command: 'bridge', settingsFile },
    ...{ ...place, cwd: '/', serverCommand: npxServerCommand, roots: '~' },
    ...options,
  });
  return { exitCode, said };
}

function clientOf(id: string): ChatClient {
  const client = chatClients.find((one) => one.id === id);
  if (client === undefined) throw new Error(`no client ${id}`);
  return client;
}

/** Settings of a client with this text. */
async function settingsOf(client: ChatClient, text: string): Promise<string> {
  const [path] = client.settingsFiles(place);
  if (path === undefined) throw new Error(`${client.title} has no settings here`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

describe('each client of the table', () => {
  test.each(edited)('$title is found, its entry comes and goes, and nothing else changes', async (client) => {
    const comment = client.language === 'json' ? '' : '  // mine\n';
    const text = `{\n${comment}  "theme": "dark",\n  "${client.serversKey}": {\n    "other": { "command": "x" }\n  }\n}\n`;
    const path = await settingsOf(client, text);
    expect(await init({ client: ['all'] })).toMatchObject({ exitCode: 0 });
    const added = await readFile(path, 'utf8');
    expect(added).toContain('"other": { "command": "x" }');
    expect(added).toContain('"claude-code-bridge": {');
    expect((await init({ client: [client.id] })).said).toContain('already holds the entry');
    expect(await readFile(`${path}.claude-code-bridge.bak`, 'utf8')).toBe(text);
    await init({ remove: true });
    expect(await readFile(path, 'utf8')).toBe(text);
    expect(await exists(`${path}.claude-code-bridge.bak`)).toBe(false);
  });
});

describe('settings of another program', () => {
  test.each([
    ['claude-code', '{\n  // mine\n  "mcpServers": {}\n}\n', 'line 2: '],
    ['claude-code', '{\n  "mcpServers": {},\n}\n', 'line 3: '],
    ['claude-desktop', '{ "mcpServers": {} /* none */ }', 'line 1: '],
    ['gemini-cli', '{\n  "mcpServers": {},\n}', 'line 3: '],
    ['gemini-cli', '\ufeff{}', 'line 1: a byte order mark'],
    ['cursor', '{ "mcpServers": [] }', 'mcpServers: expected an object'],
    ['claude-code', `${'['.repeat(100_000)}`, 'line 1: '],
  ])('that %s does not read are refused with the line: %j', async (id, text, where) => {
    const path = await settingsOf(clientOf(id), text);
    const { exitCode, said } = await init({ client: [id] });
    expect(exitCode).toBe(1);
    expect(said).toContain(`${path}: ${where}`);
    expect(await readFile(path, 'utf8')).toBe(text);
  });

  test.each([
    ['claude-code', '\ufeff{ "mcpServers": {} }'],
    ['gemini-cli', '{ /* mine */ "mcpServers": {} }'],
    ['opencode', '{ "mcp": {}, } // end'],
    ['copilot-cli', '\ufeff{ "mcpServers": {}, }'],
  ])('that %s reads are read: %j', async (id, text) => {
    const path = await settingsOf(clientOf(id), text);
    expect(await init({ client: [id] })).toMatchObject({ exitCode: 0 });
    expect(await readFile(path, 'utf8')).toContain('claude-code-bridge');
  });

  test('in a dialect that is not known are edited, and it is said', async () => {
    await settingsOf(clientOf('cursor'), '{ "mcpServers": {}, }');
    expect((await init({ client: ['cursor'] })).said).toContain('whether Cursor reads those is not known');
  });

  test('in TOML are not edited: the client’s own command is shown, with its words quoted', () => {
    const command = { command: '/opt/my node', args: ['/a b/main.js'] };
    expect(howToAdd(clientOf('codex'), command, { ...place, path: '/settings' })).toContain(
      "\ncodex mcp add claude-code-bridge -- '/opt/my node' '/a b/main.js'",
    );
  });
});

describe('the places of clients', () => {
  test('follow the variables that name other folders', () => {
    const env = {
      XDG_CONFIG_HOME: '/xdg',
      CODEX_HOME: '/codex',
      CLAUDE_CONFIG_DIR: '/claude',
      COPILOT_HOME: '/copilot',
    };
    const paths = Object.fromEntries(
      chatClients.map((client) => [client.id, client.settingsFiles({ ...place, env })[0]]),
    );
    expect(paths).toMatchObject({
      codex: '/codex/config.toml',
      'claude-code': '/claude/.claude.json',
      'copilot-cli': '/copilot/mcp-config.json',
      goose: '/xdg/goose/config.yaml',
      opencode: '/xdg/opencode/opencode.json',
      vscode: '/xdg/Code/User/mcp.json',
      zed: '/xdg/zed/settings.json',
    });
  });

  test('on macOS are those of macOS', () => {
    const place: ClientPlace = { platform: 'darwin', homeDir: '/Users/me', env: {} };
    const paths = Object.fromEntries(
      chatClients.map((client) => [client.id, client.settingsFiles(place)[0]]),
    );
    expect(paths).toMatchObject({
      'claude-desktop': '/Users/me/Library/Application Support/Claude/claude_desktop_config.json',
      vscode: '/Users/me/Library/Application Support/Code/User/mcp.json',
      zed: '/Users/me/.config/zed/settings.json',
      goose: '/Users/me/.config/goose/config.yaml',
    });
  });

  test('inside WSL name the Claude Desktop of Windows, which starts the server in WSL', () => {
    const windows: ClientPlace = { ...place, windowsHome: '/mnt/c/Users/me' };
    const desktop = clientOf('claude-desktop');
    expect(desktop.settingsFiles(windows)).toEqual([
      '/mnt/c/Users/me/AppData/Roaming/Claude/claude_desktop_config.json',
    ]);
    expect(desktop.entry(npxServerCommand, windows)).toEqual({
      command: 'wsl.exe',
      args: ['-e', 'npx', '-y', 'claude-code-bridge'],
    });
  });

  test('an existing opencode.jsonc is used', async () => {
    const file = join(place.homeDir, '.config', 'opencode', 'opencode.jsonc');
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, '{}');
    await init({ client: ['opencode'] });
    expect(await readFile(file, 'utf8')).toContain('claude-code-bridge');
  });
});
