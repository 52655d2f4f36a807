import { chmod, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allChecks } from '../../src/doctor/all-checks.js';
import { runChecks } from '../../src/doctor/run-checks.js';
import { sampleMachine, type SampleMachine } from './sample-machine.js';

/** What the doctor says of Claude Code, which is looked up as for a task. */
async function found({ context, home, root }: SampleMachine, path: string): Promise<string | undefined> {
  const checks = allChecks.filter(({ id }) => id === 'claude-found');
  const place = context({ env: { HOME: home, PATH: path }, cwd: root });
  const [entry] = await runChecks(checks, place, { fix: false });
  return entry?.summary;
}

test('Claude Code is found on PATH in order, else where its installers put it', async () => {
  const machine = await sampleMachine();
  for (const place of ['.local/bin/claude', '.claude/bin/claude', '.npm-global/bin/claude']) {
    const path = join(machine.home, place);
    await mkdir(join(path, '..'), { recursive: true });
    if (path !== machine.claude) await rename(join(machine.home, '.local/bin/claude'), path);
    expect(await found(machine, machine.bin)).toBe(`Claude Code is ${path}, which is not on PATH`);
    await rename(path, machine.claude);
  }
  await machine.script(join(machine.bin, 'claude'), 'exit 0');
  expect(await found(machine, `/nowhere:${machine.bin}`)).toBe(`Claude Code is ${machine.bin}/claude`);
});

test('relative and empty parts of PATH are skipped, and folders', async () => {
  const machine = await sampleMachine();
  await rm(machine.claude);
  await machine.script(join(machine.bin, 'claude'), 'exit 0');
  expect(await found(machine, ':.:bin')).toContain('was not found on PATH');
  await rm(join(machine.bin, 'claude'));
  await mkdir(join(machine.bin, 'claude'));
  expect(await found(machine, machine.bin)).toContain('was not found on PATH');
});

test('a file that is not executable is named, unless another one is found', async () => {
  const machine = await sampleMachine();
  const blocked = join(machine.bin, 'claude');
  await machine.script(blocked, 'exit 0');
  await chmod(blocked, 0o644);
  expect(await found(machine, machine.bin)).toContain(machine.claude);
  await rm(machine.claude);
  expect(await found(machine, machine.bin)).toContain(`${blocked}, but it is not an executable file`);
});
