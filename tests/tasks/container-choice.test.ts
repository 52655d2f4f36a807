import { expect, it } from 'vitest';
import { chooseContainer } from '../../src/tasks/container-choice.js';

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
  expect(chooseContainer({}, SETTINGS)).toEqual({ container, command });
});

it.each([
  { what: 'no image is set', settings: { ...SETTINGS, image: null }, code: 'TASK_START_FAILED' },
  { what: 'there are no settings', settings: undefined, code: 'TASK_START_FAILED' },
  {
    what: 'the session has no terminal',
    settings: SETTINGS,
    driver: 'print' as const,
    code: 'INVALID_ARGUMENTS',
  },
])('is refused when $what', ({ settings, driver, code }) => {
  expect(() => chooseContainer({ driver }, settings)).toThrow(expect.objectContaining({ code }));
});
