import { expect, it } from 'vitest';
import { checkSamePlace, chooseContainer } from '../../src/tasks/container-choice.js';

const SETTINGS = {
  image: 'team/claude:1',
  network: 'bridge',
  memory_mb: 4096,
  home: null,
  engine: { host: null, certPath: null, tlsVerify: false },
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

it('holds for a task that goes on with an earlier one: both in containers, or both on this machine', () => {
  expect(() => checkSamePlace('task_1', true, { isolation: 'docker' })).not.toThrow();
  expect(() => checkSamePlace('task_1', false, {})).not.toThrow();
  expect(() => checkSamePlace('task_1', true, { isolation: 'none' })).toThrow(/worked in a container/);
  expect(() => checkSamePlace('task_1', false, { isolation: 'docker' })).toThrow(/worked on this machine/);
});
