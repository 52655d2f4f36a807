import { expect, test } from 'vitest';
import { stateDirectory } from '../../src/config/places.js';

const homeDir = '/home/me';

test('is the setting, else the XDG folder, else the one in the home folder', () => {
  const env = { XDG_STATE_HOME: '/xdg' };
  expect(stateDirectory({ state_dir: '/set' }, { env, homeDir })).toBe('/set');
  expect(stateDirectory({ state_dir: null }, { env, homeDir })).toBe('/xdg/claude-code-bridge');
  expect(stateDirectory({ state_dir: null }, { env: {}, homeDir })).toBe(
    '/home/me/.local/state/claude-code-bridge',
  );
});

test('ignores a relative XDG folder', () => {
  const env = { XDG_STATE_HOME: 'here' };
  expect(stateDirectory({ state_dir: null }, { env, homeDir })).toBe(
    '/home/me/.local/state/claude-code-bridge',
  );
});
