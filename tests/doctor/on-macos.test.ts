import { utimes } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { clock } from '../../src/doctor/checks/clock.js';
import { docker } from '../../src/doctor/checks/docker.js';
import { installCommand } from '../../src/doctor/install-command.js';
import { sampleMachine } from './sample-machine.js';

test('on macOS the commands that mend are those of macOS', async () => {
  const machine = await sampleMachine();
  const later = new Date(Date.now() + 3_600_000);
  await utimes(machine.settingsFile, later, later);
  const env = { DOCKER_HOST: `unix://${machine.root}/no-engine.sock` };
  const context = machine.context({ platform: 'darwin', env });
  expect(await clock.look(context)).toMatchObject({ remedy: { command: 'sudo sntp -sS time.apple.com' } });
  expect(await docker.look(context)).toMatchObject({ remedy: { command: 'open -a Docker' } });
  expect(installCommand('git', 'darwin')).toBe('brew install git');
});
