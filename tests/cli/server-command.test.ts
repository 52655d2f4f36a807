import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ownCommand, serverCommandFor } from '../../src/cli/own-command.js';

/** The package below a folder with what npx notes there, if npx made it, and its link in `.bin`. */
async function installed(packages?: readonly string[]): Promise<{ root: string; main: string; bin: string }> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'own-')));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const main = join(root, 'node_modules', 'claude-code-bridge', 'dist', 'main.js');
  const bin = join(root, 'node_modules', '.bin', 'claude-code-bridge');
  await mkdir(dirname(main), { recursive: true });
  await mkdir(dirname(bin));
  await writeFile(main, '');
  await symlink(main, bin);
  if (packages !== undefined)
    await writeFile(join(root, 'package.json'), JSON.stringify({ _npx: { packages } }));
  return { root, main, bin };
}

it.each(['claude-code-bridge', 'claude-code-bridge@0.1.0'])('is npx for what npx got as %s', async (spec) => {
  const { main, bin } = await installed(['other', spec]);
  expect(await serverCommandFor(main, '/usr/bin/node')).toEqual({ command: 'npx', args: ['-y', spec] });
  expect(await ownCommand(bin, dirname(bin), '/h')).toBe(`npx ${spec}`);
});

it.each([
  ['npx got as a tarball', ['file:/x/claude-code-bridge-0.1.0.tgz']],
  ['npx got as an address', ['claude-code-bridge@https://example.test/x.tgz']],
  ['npx got as a repository', ['claude-code-bridge@github:ann/fork']],
  ['a project has, or all programs of the machine', undefined],
])('is Node with the file for what %s', async (_, packages) => {
  const { root, main, bin } = await installed(packages);
  expect(await serverCommandFor(main, '/usr/bin/node')).toEqual({ command: '/usr/bin/node', args: [main] });
  expect(await ownCommand(bin, dirname(bin), '/h')).toBe(`node ${main}`);
  await symlink(main, join(root, 'claude-code-bridge'));
  expect(await ownCommand(bin, root, '/h')).toBe('claude-code-bridge');
});
