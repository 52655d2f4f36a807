import { expect, it } from 'vitest';
import { engineSettings } from '../../src/services/engine-settings.js';
import {
  checkIsolation,
  checkSamePlace,
  chooseContainer,
  driverFor,
} from '../../src/tasks/container-choice.js';

const SETTINGS = {
  image: 'team/claude:1',
  network: 'bridge',
  memory_mb: 4096,
  home: null,
  engine: engineSettings({ env: {}, homeDir: '/' }),
  command: ['claude'],
};

it('is the image that the user has set', () => {
  const { command, ...container } = SETTINGS;
  expect(chooseContainer(SETTINGS)).toEqual({ container, command });
});

it.each([
  { what: 'no image is set', settings: { ...SETTINGS, image: null }, code: 'TASK_START_FAILED' },
  { what: 'there are no settings', settings: undefined, code: 'TASK_START_FAILED' },
])('is refused when $what', ({ settings, code }) => {
  expect(() => chooseContainer(settings)).toThrow(expect.objectContaining({ code }));
});

it.each(['cautious', 'sandboxed', 'claude'] as const)(
  'refuses mode %s, which it cannot keep, with both drivers',
  (permissionMode) => {
    for (const driver of ['interactive', 'print'] as const) {
      const common = {
        prompt: 'Do it.',
        path: '/projects/app',
        isolation: 'docker',
        driver,
        permissionMode,
      } as const;
      expect(() => checkIsolation(common)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENTS' }));
      expect(() => checkIsolation({ ...common, permissionMode: 'auto' })).not.toThrow();
    }
  },
);

it('holds for a task that goes on with an earlier one: both in containers, or both on this machine', () => {
  expect(() => checkSamePlace('task_1', true, { isolation: 'docker' })).not.toThrow();
  expect(() => checkSamePlace('task_1', false, {})).not.toThrow();
  expect(() => checkSamePlace('task_1', true, { isolation: 'none' })).toThrow(/worked in a container/);
  expect(() => checkSamePlace('task_1', false, { isolation: 'docker' })).toThrow(/worked on this machine/);
});

it('mode claude runs with the print driver, and is refused with a terminal', () => {
  expect(driverFor({ permissionMode: 'claude' })).toBe('print');
  expect(driverFor({ permissionMode: 'auto' })).toBe('interactive');
  expect(() => driverFor({ permissionMode: 'claude', driver: 'interactive' })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENTS' }),
  );
});

it.each(['cautious', 'sandboxed', 'claude'] as const)(
  'refuses mode %s for a session that asks nothing at all',
  (permissionMode) => {
    expect(() => checkIsolation({ permissionMode, skipPermissions: true })).toThrow(
      'conversation_skip_permissions',
    );
    expect(() => checkIsolation({ permissionMode: 'auto', skipPermissions: true })).not.toThrow();
  },
);
