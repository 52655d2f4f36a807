import { describe, expect, test } from 'vitest';
import { modeSettings, modeWords } from '../../src/config/permission-modes.js';
import { instructionsFor } from '../../src/tools/instructions.js';
import { faults, load, place } from './config-place.js';

describe('the default permission mode', () => {
  test('must be one that is allowed, for all and for each folder', async () => {
    const at = await place({
      allowed_permission_modes: ['cautious', 'claude'],
      projects: {
        '/nowhere/one': { default_permission_mode: 'sandboxed' },
        '/nowhere/two': { default_permission_mode: 'auto', allowed_permission_modes: ['auto'] },
        '/nowhere/two/three': { allowed_permission_modes: ['cautious'] },
      },
    });
    const allowed = `the setting allowed_permission_modes (${at.path}:`;
    const lines = await faults(at);
    expect(lines).toHaveLength(3);
    expect(lines[0]).toContain(
      'default_permission_mode is "auto", expected one of "cautious", "claude", by ',
    );
    expect(lines[0]).toContain(allowed);
    expect(lines[1]).toContain('default_permission_mode for /nowhere/one is "sandboxed", expected');
    expect(lines[2]).toContain(
      'for /nowhere/two/three is "auto", expected one of "cautious", by allowed_permission_modes of /nowhere/two/three',
    );
  });

  test('comes from the file or the environment, with the modes that are allowed', async () => {
    const at = await place({ default_permission_mode: 'sandboxed' });
    const env = { MCP_ALLOWED_PERMISSION_MODES: 'cautious,sandboxed' };
    expect((await load(at, { env })).config).toMatchObject({
      default_permission_mode: 'sandboxed',
      allowed_permission_modes: ['cautious', 'sandboxed'],
    });
    expect(await faults(await place({ allowed_permission_modes: [] }))).toHaveLength(1);
    expect(await faults(await place({ default_permission_mode: 'careful' }))).toHaveLength(1);
  });

  test('is in the instructions of a server that starts tasks', () => {
    expect(instructionsFor(['tasks'], 'permission_mode: x.')).toBe(
      `${instructionsFor(['tasks'])}\npermission_mode: x.`,
    );
    expect(instructionsFor(['files'], 'permission_mode: x.')).toBe(instructionsFor(['files']));
  });

  test('is in the words for a person or a model only where it is set', async () => {
    const wordsOf = async (settings: object) => {
      const { config, origins } = await load(await place(settings));
      return modeWords(modeSettings(config, origins));
    };
    expect(await wordsOf({})).toBeUndefined();
    expect(await wordsOf({ projects: { '/nowhere': { own_hooks: false } } })).toBeUndefined();
    expect(
      await wordsOf({
        default_permission_mode: 'cautious',
        projects: { '/nowhere': { allowed_permission_modes: ['cautious'] } },
      }),
    ).toBe(
      'permission_mode: default cautious, allowed auto, cautious, sandboxed, claude; in /nowhere default cautious, allowed cautious.',
    );
  });
});
