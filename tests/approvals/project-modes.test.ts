import { describe, expect, it } from 'vitest';
import { ALL_MODES, modeFor, modesIn, type ModeSettings } from '../../src/approvals/modes.js';

const settings: ModeSettings = {
  default_permission_mode: 'cautious',
  allowed_permission_modes: ['cautious', 'sandboxed'],
  projects: {
    '/work': { allowed_permission_modes: ['cautious', 'auto'] },
    '/work/play': { default_permission_mode: 'auto' },
    '/work/trusted': {},
  },
  origins: { allowed_permission_modes: '/c.json:3', projects: '/c.json:9' },
};

const modeOf = (asked: Parameters<typeof modeFor>[0], project: string, from = settings) =>
  modeFor(asked, project, modesIn(project, from));

describe('the mode of a task', () => {
  it('is the one that is asked for, else the default of the nearest folder that has one', () => {
    expect(modeOf('sandboxed', '/home/app')).toBe('sandboxed');
    expect(modeOf(undefined, '/home/app')).toBe('cautious');
    expect(modeOf(undefined, '/work/app')).toBe('cautious');
    expect(modeOf(undefined, '/work/play/app')).toBe('auto');
    expect(modeOf(undefined, '/work/trusted')).toBe('cautious');
    expect(modeOf(undefined, '/workshop')).toBe('cautious');
  });

  it('is any where nothing is set, and auto by default', () => {
    for (const mode of ['auto', 'cautious', 'sandboxed', 'claude'] as const)
      expect(modeOf(mode, '/home/app', ALL_MODES)).toBe(mode);
    expect(modeOf(undefined, '/home/app', ALL_MODES)).toBe('auto');
  });

  it.each([
    ['/home/app', 'auto', 'cautious, sandboxed', 'the setting allowed_permission_modes (/c.json:3)'],
    [
      '/work/play/app',
      'sandboxed',
      'cautious, auto',
      'allowed_permission_modes of /work in the setting projects (/c.json:9)',
    ],
  ] as const)(
    'is refused in %s where it is %s, with those that are allowed and where that is set',
    (project, mode, allowed, from) => {
      expect(() => modeOf(mode, project)).toThrow(
        `permission_mode '${mode}' is not allowed in ${project}. Allowed: ${allowed}, by ${from}.`,
      );
    },
  );
});
