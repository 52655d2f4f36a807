import { expect, test } from 'vitest';
import { browserProgram } from '../../src/cli/board.js';

test.each([
  ['macOS', 'darwin', {}, 'open'],
  ['macOS by ssh', 'darwin', { SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' }, undefined],
  ['Linux with a screen', 'linux', { DISPLAY: ':0' }, 'xdg-open'],
  ['Linux with Wayland', 'linux', { WAYLAND_DISPLAY: 'wayland-0' }, 'xdg-open'],
  ['Linux without a screen', 'linux', { DISPLAY: '' }, undefined],
] as const)('on %s a page opens where a person sits', (_where, platform, env, program) => {
  expect(browserProgram(env, platform)).toBe(program);
});
