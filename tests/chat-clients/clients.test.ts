import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { chatClients } from '../../src/clients/chat-clients.js';
import type { ChatClient, ClientPlace } from '../../src/clients/chat-client.js';
import {
  addEntry,
  readClientSettings,
  removeEntry,
  settingsPath,
} from '../../src/clients/client-settings.js';
import { installedClients } from '../../src/clients/find-clients.js';
import { npxServerCommand } from '../../src/clients/server-command.js';
import { windowsHome } from '../../src/clients/windows-home.js';
import { tempFolder } from '../config/temp-folder.js';

const others: Readonly<Record<ChatClient['format'], (key: string) => string>> = {
  json: (key) => `{\n  // mine\n  "theme": "dark",\n  "${key}": {\n    "other": { "command": "x" }\n  }\n}\n`,
  toml: (key) => `# mine\nmodel = "m"\n\n[${key}.other]\ncommand = "x"\n`,
  yaml: (key) => `# mine\nmodel: m\n${key}:\n  other:\n    cmd: x\n`,
};

async function placeOf(env: ClientPlace['env'] = {}): Promise<ClientPlace> {
  return { platform: 'linux', homeDir: await tempFolder(), env };
}

async function pathOf(client: ChatClient, place: ClientPlace): Promise<string> {
  const path = await settingsPath(client, place);
  if (path === undefined) throw new Error(`${client.title} has no settings here`);
  return path;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

describe('each client of the table', () => {
  test.each(chatClients)('$title: its entry comes and goes, and nothing else changes', async (client) => {
    const place = await placeOf();
    const path = await pathOf(client, place);
    const text = others[client.format](client.serversKey);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    const entry = client.entry(npxServerCommand, place);
    const { backup = '' } = await addEntry(await readClientSettings(client, path), entry);
    expect(await readFile(backup, 'utf8')).toBe(text);
    const settings = await readClientSettings(client, path);
    expect(Object.keys(settings.servers)).toContain('other');
    expect(settings.entry).toEqual(entry);
    await removeEntry(settings);
    expect(await readFile(path, 'utf8')).toBe(text);
    expect(await exists(backup)).toBe(false);
  });

  test('an entry that was replaced leaves no copy behind when it is removed', async () => {
    const place = await placeOf();
    const [client] = chatClients;
    if (client === undefined) throw new Error('no client');
    const path = await pathOf(client, place);
    const text = others.json(client.serversKey);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    await addEntry(await readClientSettings(client, path), { command: 'node', args: ['/old/main.js'] });
    await addEntry(await readClientSettings(client, path), client.entry(npxServerCommand, place));
    await removeEntry(await readClientSettings(client, path));
    expect(await readFile(path, 'utf8')).toBe(text);
    expect(await exists(`${path}.claude-code-bridge.bak`)).toBe(false);
  });

  test.each(chatClients)('$title: a file that only held the entry is removed with it', async (client) => {
    const place = await placeOf();
    const path = await pathOf(client, place);
    await addEntry(await readClientSettings(client, path), client.entry(npxServerCommand, place));
    expect(await readFile(path, 'utf8')).toContain('claude-code-bridge');
    await removeEntry(await readClientSettings(client, path));
    expect(await exists(path)).toBe(false);
  });

  test.each(chatClients)('$title is found by what it leaves', async (client) => {
    const place = await placeOf();
    expect(await installedClients(place)).toEqual([]);
    await mkdir(dirname(await pathOf(client, place)), { recursive: true });
    await writeFile(await pathOf(client, place), '');
    expect(await installedClients(place)).toContain(client);
  });

  test('has an id of its own, and where it has a link, the link says what the entry says', () => {
    expect(new Set(chatClients.map(({ id }) => id)).size).toBe(chatClients.length);
    const links = Object.fromEntries(
      chatClients.flatMap(({ id, link }) =>
        link === undefined ? [] : [[id, new URL(link(npxServerCommand))]],
      ),
    );
    expect(Object.keys(links).toSorted()).toEqual(['cursor', 'goose', 'kiro', 'lm-studio', 'vscode']);
    const plain = { command: 'npx', args: ['-y', 'claude-code-bridge'] };
    const inVscode = new URL(links['vscode']?.searchParams.get('url') ?? '');
    expect(inVscode.href.startsWith('vscode:mcp/install?')).toBe(true);
    expect(JSON.parse(decodeURIComponent(inVscode.search.slice(1)))).toEqual({
      name: 'claude-code-bridge',
      ...plain,
    });
    for (const id of ['cursor', 'lm-studio']) {
      const config = links[id]?.searchParams.get('config') ?? '';
      expect(JSON.parse(Buffer.from(config, 'base64').toString())).toEqual(plain);
    }
    expect(JSON.parse(links['kiro']?.searchParams.get('config') ?? '')).toEqual(plain);
    expect(links['goose']?.searchParams.getAll('arg')).toEqual(plain.args);
    expect(links['goose']?.searchParams.get('cmd')).toBe('npx');
  });
});

describe('the places of clients', () => {
  test('follow the variables that name other folders', async () => {
    const place = await placeOf({
      XDG_CONFIG_HOME: '/xdg',
      CODEX_HOME: '/codex',
      CLAUDE_CONFIG_DIR: '/claude',
      COPILOT_HOME: '/copilot',
    });
    const paths = Object.fromEntries(
      chatClients.map((client) => [client.id, client.settingsFiles(place)[0]]),
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

  test('inside WSL name the Claude Desktop of Windows, which starts the server in WSL', async () => {
    const users = await tempFolder();
    const windows = join(users, 'me', 'AppData', 'Roaming', 'Claude');
    await mkdir(windows, { recursive: true });
    await mkdir(join(users, 'Default'));
    expect(await windowsHome({}, users)).toBeUndefined();
    const home = await windowsHome({ WSL_DISTRO_NAME: 'Debian' }, users);
    expect(home).toBe(join(users, 'me'));
    const place: ClientPlace = { ...(await placeOf()), windowsHome: home };
    const [desktop] = await installedClients(place);
    if (desktop === undefined) throw new Error('not found');
    expect(desktop.settingsFiles(place)).toEqual([join(windows, 'claude_desktop_config.json')]);
    expect(desktop.entry(npxServerCommand, place)).toEqual({
      command: 'wsl.exe',
      args: ['-e', 'npx', '-y', 'claude-code-bridge'],
    });
  });

  test('an existing opencode.jsonc is used', async () => {
    const place = await placeOf();
    const file = join(place.homeDir, '.config', 'opencode', 'opencode.jsonc');
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, '{}');
    const opencode = chatClients.find(({ id }) => id === 'opencode');
    expect(opencode && (await settingsPath(opencode, place))).toBe(file);
  });
});
