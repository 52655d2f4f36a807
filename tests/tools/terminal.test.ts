import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configSchema } from '../../src/config/schema.js';
import { enabledTools, isOfferedInside, requireOfferedInside } from '../../src/tools/registry.js';
import { openTerminalTools } from './terminal-tools.js';

const NAMES = ['close_terminal', 'create_terminal', 'execute', 'list_terminals', 'read_terminal'];
const offered = (toolsets: 'all' | readonly string[]) => enabledTools(toolsets).map(({ name }) => name);

describe('the toolset', () => {
  test('is offered where the settings name it, and not by default', () => {
    expect(offered(['terminal'])).toEqual(NAMES);
    expect(offered('all')).toEqual(expect.arrayContaining(NAMES));
    const byDefault = offered(configSchema.parse({}).toolsets);
    expect(byDefault.filter((name) => NAMES.includes(name))).toEqual([]);
  });

  test.each(['off', 'look'] as const)('is not offered inside a task, with inside_tasks %s', (allows) => {
    for (const tool of enabledTools(['terminal'])) {
      expect(isOfferedInside(tool, allows)).toBe(false);
      expect(() => requireOfferedInside(tool, allows)).toThrow(
        expect.objectContaining({ code: 'INSIDE_TASK', hint: 'Use the tools of the session itself.' }),
      );
    }
  });
});

describe('list_terminals', () => {
  test('shows every window with its folders, and the terminals in it with who made them', async () => {
    const tools = await openTerminalTools();
    const editor = await tools.open();
    editor.addTerminal('t1', tools.project).print('hello\n');
    const other = await tools.open({ folders: ['/elsewhere'], trusted: false });
    expect(await tools.answer('list_terminals')).toEqual({
      windows: [
        { editor: 'Visual Studio Code 1.100.3', folders: ['/elsewhere'], trusted: false, terminals: [] },
        {
          editor: 'Visual Studio Code 1.100.3',
          folders: [tools.project],
          trusted: true,
          terminals: [
            {
              terminal_id: 't1',
              name: 'Terminal',
              created_by: 'other',
              shell: '/bin/bash',
              cwd: tools.project,
              state: 'idle',
              exit_code: null,
              cursor: 6,
            },
          ],
        },
      ],
    });
    expect([...editor.clients, ...other.clients]).toEqual(['Test client', 'Test client']);
    await expect.poll(() => editor.connections + other.connections).toBe(0);
  });

  test('says what to do when no window is open', async () => {
    const tools = await openTerminalTools();
    const { windows, note } = await tools.answer('list_terminals');
    expect(windows).toEqual([]);
    expect(note).toMatch(/^No window of VS Code .* is open\. Ask the user to open the project in VS Code/);
  });
});

describe('create_terminal', () => {
  test('opens a terminal in the window that has the project open, with what was asked for', async () => {
    const tools = await openTerminalTools();
    const editor = await tools.open();
    await mkdir(join(tools.project, 'src'));
    const env = { PORT: '3000' };
    const made = await tools.answer('create_terminal', { cwd: 'src', name: 'server', shell: 'zsh', env });
    expect(made).toMatchObject({
      name: 'server (Test client)',
      shell: 'zsh',
      cwd: join(tools.project, 'src'),
    });
    const cwd = join(tools.project, 'src');
    const id = made['terminal_id'];
    expect(editor.requests).toEqual([
      { type: 'create_terminal', id, cwd, show: true, name: 'server', shell: 'zsh', env },
    ]);
    await expect.poll(() => editor.connections).toBe(0);
  });

  test('uses the window with the innermost folder, and of two the newer one', async () => {
    const tools = await openTerminalTools();
    const inner = join(tools.project, 'packages', 'web');
    await mkdir(inner, { recursive: true });
    const web = await tools.open({ folders: [inner], changes: { started_at: '2026-11-25T10:00:00.000Z' } });
    const older = await tools.open({ changes: { started_at: '2026-11-25T11:00:00.000Z' } });
    const newer = await tools.open({ changes: { started_at: '2026-11-25T12:00:00.000Z' } });
    await tools.answer('create_terminal', { cwd: inner });
    await tools.answer('create_terminal', { path: tools.project, cwd: inner });
    await tools.answer('create_terminal');
    expect([web, older, newer].map((editor) => editor.terminals.size)).toEqual([1, 0, 2]);
    expect([...newer.terminals.values()].map(({ facts }) => facts.cwd)).toEqual([inner, tools.project]);
  });

  test.each(['path', 'cwd'])(
    'refuses a folder outside the allowed roots as %s, and asks no window',
    async (name) => {
      const tools = await openTerminalTools();
      const editor = await tools.open({ folders: ['/'] });
      expect(await tools.fault('create_terminal', { [name]: '/etc' })).toMatch(/^PATH_NOT_ALLOWED: /);
      expect(editor.clients).toEqual([]);
    },
  );

  test('names the folders that are open where none holds the project', async () => {
    const tools = await openTerminalTools();
    await tools.open({ folders: ['/one', `${tools.project}-two`] });
    expect(await tools.fault('create_terminal')).toBe(
      `EDITOR_NOT_FOUND: No window of VS Code has '${tools.project}' open. Open are: /one, ${tools.project}-two. Ask the user to open it in VS Code with the extension Claude Terminal Bridge. list_terminals shows the windows.`,
    );
  });

  test('makes nothing in a workspace that the user has not trusted', async () => {
    const tools = await openTerminalTools();
    const editor = await tools.open({ trusted: false });
    for (const [name, args] of [
      ['create_terminal', {}],
      ['execute', { command: 'true' }],
    ] as const)
      expect(await tools.fault(name, args)).toMatch(
        /^UNTRUSTED_WORKSPACE: .* is not trusted by the user.* Only the user can trust it/,
      );
    editor.addTerminal('t1', tools.project);
    for (const args of [{ command: 'true' }, { text: 'y' }])
      expect(await tools.fault('execute', { ...args, terminal_id: 't1' })).toMatch(/^UNTRUSTED_WORKSPACE: /);
    expect(editor.requests.map(({ type }) => type)).toEqual(['list_terminals', 'list_terminals']);
  });
});

describe('close_terminal', () => {
  test('closes a terminal of any window, and says what ran in it', async () => {
    const tools = await openTerminalTools();
    const editor = await tools.open({ folders: ['/elsewhere'] });
    editor.addTerminal('t1', tools.project).begin('x');
    expect(await tools.answer('close_terminal', { terminal_id: 't1' })).toEqual({
      terminal_id: 't1',
      message: 'The terminal "Terminal" was closed, and the command that ran in it was ended.',
    });
    expect(editor.terminals.size).toBe(0);
    expect(await tools.fault('close_terminal', { terminal_id: 't1' })).toBe(
      'TERMINAL_NOT_FOUND: No terminal in VS Code has the id "t1", or it was closed. list_terminals shows the terminals there are; create_terminal makes one.',
    );
  });
});

test.each([
  ['read_terminal', {}],
  ['execute', { command: 'true' }],
  ['close_terminal', {}],
])(
  '%s refuses a terminal that began outside the allowed roots, or where is not known',
  async (name, args) => {
    const tools = await openTerminalTools();
    const editor = await tools.open();
    const bare = await tools.open({ folders: [] });
    editor.addTerminal('t1', '/etc').print('secret');
    bare.addTerminal('t2', null).print('secret');
    for (const id of ['t1', 't2'])
      expect(await tools.fault(name, { ...args, terminal_id: id })).toMatch(/^PATH_NOT_ALLOWED: /);
    expect([...editor.requests, ...bare.requests].map(({ type }) => type)).toEqual(
      Array.from({ length: 4 }, () => 'list_terminals'),
    );
  },
);
