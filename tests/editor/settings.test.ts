import { expect, test } from 'vitest';
import { readSettings } from '../../vscode/src/settings.js';

function read(settings: Readonly<Record<string, unknown>>, env: NodeJS.ProcessEnv = {}) {
  const get = <T>(name: string, fallback: T): T => (name in settings ? (settings[name] as T) : fallback);
  return readSettings({ get }, { env, homeDir: '/home/ada' });
}

test('without settings the window listens at the fixed port, asks for a token, and is found where the bridge looks', () => {
  expect(read({})).toEqual({
    port: 3000,
    autoConnect: true,
    silentAutoConnect: true,
    allowWithoutToken: false,
    statePath: '/home/ada/.local/state/claude-code-bridge',
    showTasks: true,
    taskNotifications: 'workspace',
    bridgeCommand: [],
  });
});

test('what is no command, or no kind of notification, is refused by name', () => {
  expect(read({ bridgeCommand: ['node', '/main.js'] }).bridgeCommand).toEqual(['node', '/main.js']);
  expect(() => read({ bridgeCommand: 'node main.js' })).toThrow('claudeTerminalBridge.bridgeCommand');
  expect(read({ taskNotifications: 'off' }).taskNotifications).toBe('off');
  expect(() => read({ taskNotifications: 'never' })).toThrow('none of workspace, all, off: never');
});

test('only the port of the address counts', () => {
  const portOf = (mcpServerUrl: string) => read({ mcpServerUrl }).port;
  expect(portOf('ws://elsewhere.example:4001/path')).toBe(4001);
  expect(portOf('ws://localhost')).toBe(80);
  expect(portOf('')).toBeUndefined();
  expect(portOf('ws://localhost:0')).toBeUndefined();
  expect(() => portOf('localhost')).toThrow('mcpServerUrl');
  expect(() => portOf('mailto:someone')).toThrow('mcpServerUrl');
});

test('the state directory is that of the setting, of the environment, or the default', () => {
  const env = { MCP_STATE_DIR: '/state', XDG_STATE_HOME: '/xdg' };
  expect(read({ stateDir: '~/mine' }, env).statePath).toBe('/home/ada/mine');
  expect(read({}, env).statePath).toBe('/state');
  expect(read({}, { XDG_STATE_HOME: '/xdg' }).statePath).toBe('/xdg/claude-code-bridge');
  expect(() => read({ stateDir: 'relative' })).toThrow('absolute');
});
