import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { chatClients } from '../../src/clients/chat-clients.js';
import {
  dialectOf,
  howToAdd,
  howToRemove,
  type ChatClient,
  type ClientPlace,
} from '../../src/clients/chat-client.js';
import {
  addEntry,
  readClientSettings,
  removeEntry,
  settingsPath,
} from '../../src/clients/client-settings.js';
import { installedClients, windowsHome } from '../../src/clients/find-clients.js';
import { npxServerCommand } from '../../src/clients/server-command.js';
import { tempFolder } from '../config/temp-folder.js';

/** Those whose settings `init` edits. */
const edited = chatClients.filter((client) => dialectOf(client) !== undefined);

/** Settings with another server, and with comments where the client reads them. */
function others({ serversKey, language }: ChatClient): string {
  const comment = language === 'json' ? '' : '  // mine\n';
  return `{\n${comment}  "theme": "dark",\n  "${serversKey}": {\n    "other": { "command": "x" }\n  }\n}\n`;
}

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
  test.each(edited)('$title: its entry comes and goes, and nothing else changes', async (client) => {
    const place = await placeOf();
    const path = await pathOf(client, place);
    const text = others(client);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    const entry = client.entry(npxServerCommand, place);
    const backup = (await addEntry(await readClientSettings(client, path), entry)) ?? '';
    expect(await readFile(backup, 'utf8')).toBe(text);
    const settings = await readClientSettings(client, path);
    expect(Object.keys(settings.servers ?? {})).toContain('other');
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
    const text = others(client);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    await addEntry(await readClientSettings(client, path), { command: 'node', args: ['/old/main.js'] });
    await addEntry(await readClientSettings(client, path), client.entry(npxServerCommand, place));
    await removeEntry(await readClientSettings(client, path));
    expect(await readFile(path, 'utf8')).toBe(text);
    expect(await exists(`${path}.claude-code-bridge.bak`)).toBe(false);
  });

  test.each(edited)('$title: a file that only held the entry is removed with it', async (client) => {
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

describe('settings of another program', () => {
  async function settingsOf(id: string, text: string): Promise<readonly [ChatClient, string]> {
    const client = chatClients.find((one) => one.id === id);
    if (client === undefined) throw new Error(`no client ${id}`);
    const path = await pathOf(client, await placeOf());
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    return [client, path];
  }

  test.each([
    ['claude-code', '{\n  // mine\n  "mcpServers": {}\n}\n', 'line 2: '],
    ['claude-code', '{\n  "mcpServers": {},\n}\n', 'line 3: '],
    ['claude-desktop', '{ "mcpServers": {} /* none */ }', 'line 1: '],
    ['gemini-cli', '{\n  "mcpServers": {},\n}', 'line 3: '],
    ['gemini-cli', '\ufeff{}', 'line 1: a byte order mark'],
    ['cursor', '{ "mcpServers": [] }', 'mcpServers: expected an object'],
    ['claude-code', `${'['.repeat(100_000)}`, 'line 1: '],
  ])('that %s does not read are refused with the line: %j', async (id, text, where) => {
    const [client, path] = await settingsOf(id, text);
    await expect(readClientSettings(client, path)).rejects.toThrow(`${path}: ${where}`);
  });

  test.each([
    ['claude-code', '\ufeff{ "mcpServers": {} }'],
    ['gemini-cli', '{ /* mine */ "mcpServers": {} }'],
    ['opencode', '{ "mcp": {}, } // end'],
    ['copilot-cli', '\ufeff{ "mcpServers": {}, }'],
  ])('that %s reads are read: %j', async (id, text) => {
    const [client, path] = await settingsOf(id, text);
    expect(await readClientSettings(client, path)).toMatchObject({ servers: {} });
  });

  test('in a dialect that is not known are edited, and it is said', async () => {
    const [client, path] = await settingsOf('cursor', '{ "mcpServers": {}, }');
    const { note } = await readClientSettings(client, path);
    expect(note).toContain('whether Cursor reads those is not known');
  });

  test('may be tens of megabytes, of which only the entry changes', async () => {
    const projects = Object.fromEntries(
      Array.from({ length: 1_200 }, (_, at) => [
        `/home/me/p${at}`,
        { history: ['x'.repeat(10_000), at, []] },
      ]),
    );
    const text = JSON.stringify({ mcpServers: { mine: { command: 'true' } }, projects }, null, 2);
    const [client, path] = await settingsOf('claude-code', text);
    const place = await placeOf();
    await addEntry(await readClientSettings(client, path), client.entry(npxServerCommand, place));
    const added = await readClientSettings(client, path);
    expect(Object.keys(added.servers ?? {})).toEqual(['mine', 'claude-code-bridge']);
    const changed = added.text.replace('"/home/me/p7"', '"/home/me/other"');
    await removeEntry({ ...added, text: changed });
    expect(await readFile(path, 'utf8')).toBe(text.replace('"/home/me/p7"', '"/home/me/other"'));
  });

  test('that were changed after the addition lose the entry alone, and what its addition made around it', async () => {
    const [client, path] = await settingsOf('vscode', '{\n  // mine\n  "inputs": [] // none\n}\n');
    await addEntry(await readClientSettings(client, path), client.entry(npxServerCommand, await placeOf()));
    const added = await readClientSettings(client, path);
    expect(added.text).toContain('  "inputs": [], // none\n');
    await removeEntry({ ...added, text: added.text.replace('mine', 'ours') });
    expect(await readFile(path, 'utf8')).toBe('{\n  // ours\n  "inputs": [] // none\n}\n');
  });

  test('in TOML and YAML are not edited: the own command of the client is shown, or what to paste', async () => {
    const place: ClientPlace & { path: string } = { ...(await placeOf()), path: '/settings' };
    const [codex, goose] = chatClients.filter((client) => dialectOf(client) === undefined);
    if (codex === undefined || goose === undefined) throw new Error('not found');
    const command = { command: '/opt/my node', args: ['/a b/main.js'] };
    expect(howToAdd(codex, command, place)).toContain(
      "\ncodex mcp add claude-code-bridge -- '/opt/my node' '/a b/main.js'",
    );
    expect(howToRemove(codex, '/settings')).toContain('run: codex mcp remove claude-code-bridge');
    expect(howToAdd(goose, npxServerCommand, place)).toContain(
      'put this into /settings, below its extensions if it has them:\nextensions:\n  claude-code-bridge:\n    enabled: true\n    type: "stdio"\n',
    );
    expect(howToRemove(goose, '/settings')).toContain(
      'delete claude-code-bridge below extensions in /settings',
    );
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
