import { expect, test } from 'vitest';
import { allChecks } from '../../src/doctor/all-checks.js';
import { runChecks } from '../../src/doctor/run-checks.js';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sampleMachine } from './sample-machine.js';

test.each([
  ['darwin', 'brew install git'],
  ['linux', 'sudo apt-get install -y git'],
] as const)('the doctor names commands of the system: %s', async (platform, install) => {
  const machine = await sampleMachine();
  await rm(join(machine.bin, 'git'));
  const checks = allChecks.filter(({ id }) => id === 'git');
  const context = machine.context({ platform });
  const entries = await runChecks(checks, context, { fix: false });
  expect(entries.map(({ command }) => command)).toEqual([install]);
});
