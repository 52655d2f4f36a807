import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isTestedSystem } from '../../src/base/tested-systems.js';
import { untestedSystemOnce } from '../../src/cli/untested-system.js';
import { tempFolder } from '../config/temp-folder.js';

test('the first start on an untested system says so, and the next one does not', async () => {
  const stateDir = join(await tempFolder(), 'state');
  const system = { platform: 'darwin', arch: 'arm64', stateDir } as const;
  expect(await untestedSystemOnce(system)).toContain('on Linux (x64) only, not on darwin (arm64)');
  expect(await untestedSystemOnce(system)).toBeUndefined();
  expect((await stat(stateDir)).mode & 0o777).toBe(0o700);
});

test('Linux on x64 is the one system with tests', () => {
  expect(isTestedSystem('linux', 'x64')).toBe(true);
  expect(isTestedSystem('linux', 'arm64')).toBe(false);
  expect(isTestedSystem('darwin', 'arm64')).toBe(false);
});
