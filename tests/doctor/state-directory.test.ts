import { chmod, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { allChecks } from '../../src/doctor/all-checks.js';
import { runChecks } from '../../src/doctor/run-checks.js';
import { sampleMachine, type SampleMachine } from './sample-machine.js';

const checks = allChecks.filter(({ id }) => id === 'state-directory');

const look = async (machine: SampleMachine, fix: boolean) =>
  (await runChecks(checks, machine.context(), { fix }))[0];

it('refuses a folder with files of others as state directory, and leaves it as it is with --fix too', async () => {
  const machine = await sampleMachine();
  await chmod(machine.stateDir, 0o755);
  await writeFile(join(machine.stateDir, 'index.html'), '');
  for (const fix of [false, true]) {
    expect(await look(machine, fix)).toMatchObject({
      status: 'error',
      summary: `The state directory ${machine.stateDir} holds files that are not the bridge’s`,
      remediation: expect.stringContaining('a new or an empty folder') as unknown,
    });
  }
  expect((await stat(machine.stateDir)).mode & 0o777).toBe(0o755);
  expect(await readdir(machine.stateDir)).toEqual(['index.html']);
});

it('warns of a state directory in an allowed root, which --fix leaves there', async () => {
  const machine = await sampleMachine();
  await machine.settings({ allowed_roots: [machine.project, machine.home], state_dir: machine.stateDir });
  for (const fix of [false, true]) {
    expect(await look(machine, fix)).toMatchObject({
      status: 'warning',
      summary: `The state directory ${machine.stateDir} lies in the allowed root ${machine.home}`,
      remediation: expect.stringContaining('set state_dir to a folder outside the roots') as unknown,
      fixed: null,
    });
  }
});
