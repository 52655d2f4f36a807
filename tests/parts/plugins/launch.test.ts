import { spawnSync } from 'node:child_process';
import { chmod, cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { VERSION } from '../../../src/base/package.js';
import { gitIn } from '../../harness/project-files.js';
import { tempFolder } from '../../harness/temp-folder.js';

const plugin = join(import.meta.dirname, '../../../plugins/code-bridge');
let folder: string;
let project: string;

beforeEach(async () => {
  folder = await tempFolder();
  project = join(folder, 'project');
  await mkdir(project);
});

/** A package of the bridge that says who it is, as npm installs it. */
async function installed(modules: string, version: string, says: string): Promise<string> {
  const home = join(modules, 'claude-code-bridge');
  await mkdir(join(home, 'dist'), { recursive: true });
  await mkdir(join(modules, '.bin'), { recursive: true });
  await writeFile(
    join(home, 'package.json'),
    JSON.stringify({ name: 'claude-code-bridge', version, type: 'module' }),
  );
  const main = join(home, 'dist', 'main.js');
  await writeFile(main, `#!/usr/bin/env node\nconsole.log('${says}', ...process.argv.slice(2));\n`);
  await chmod(main, 0o755);
  await symlink('../claude-code-bridge/dist/main.js', join(modules, '.bin', 'claude-code-bridge'));
  return join(modules, '.bin');
}

function launched(launcher: string, cwd: string, ...path: string[]) {
  const PATH = [...path, dirname(process.execPath), '/usr/bin', '/bin'].join(':');
  const options = { cwd, env: { PATH, HOME: folder }, encoding: 'utf8' as const };
  return spawnSync(process.execPath, [join(launcher, 'launch.mjs'), '--toolsets', 'native'], options);
}

test('the plugin starts its own version from PATH, and nothing that a project has installed, also where the session is below its top', async () => {
  const own = await installed(join(folder, 'global'), VERSION, 'from PATH');
  const theirs = await installed(join(project, 'node_modules'), VERSION, 'from the project');
  // npm puts the project's programs first for its scripts, also by a link from elsewhere.
  const linked = join(folder, 'linked');
  await symlink(theirs, linked);
  const below = join(project, 'packages');
  await mkdir(below);
  for (const cwd of [project, below]) {
    expect(launched(plugin, cwd, theirs, linked, 'node_modules/.bin', '', own).stdout).toBe(
      'from PATH --toolsets native\n',
    );
    const without = launched(plugin, cwd, theirs, `${theirs}/`, linked);
    expect(without).toMatchObject({ status: 1, stdout: '' });
    expect(without.stderr).toContain(`npm install -g claude-code-bridge@${VERSION}`);
  }
});

test('the plugin starts nothing of the project around the session, by whatever folder on PATH, and what is in the home directory', async () => {
  const below = join(project, 'packages', 'a');
  await mkdir(below, { recursive: true });
  await mkdir(join(project, 'bin'));
  // What npm calls node_modules may be a link.
  await installed(join(project, 'deps'), VERSION, 'from the project');
  await symlink('deps', join(project, 'node_modules'));
  await symlink('../deps/.bin/claude-code-bridge', join(project, 'bin', 'claude-code-bridge'));
  await symlink(join(project, 'bin'), join(folder, 'linked'));
  for (const place of ['bin', 'packages/../bin', 'deps/.bin', 'node_modules/.bin', '../linked'])
    for (const cwd of [project, below])
      expect(launched(plugin, cwd, `${project}/${place}`)).toMatchObject({ status: 1, stdout: '' });
  const own = await installed(join(folder, 'global'), VERSION, 'from PATH');
  await mkdir(join(folder, '.git'));
  expect(launched(plugin, below, `${project}/bin`, own).stdout).toBe('from PATH --toolsets native\n');
});

test('the plugin starts nothing of another checkout of the repository around the session', async () => {
  const git = (...args: string[]) =>
    gitIn(project, '-c', 'user.name=N', '-c', 'user.email=n@x.test', ...args);
  git('init', '--quiet');
  git('commit', '--quiet', '--allow-empty', '-m', 'first');
  for (const name of ['one', 'two']) git('worktree', 'add', '--quiet', join(folder, name));
  const own = await installed(join(folder, 'global'), VERSION, 'from PATH');
  const checkouts = [project, join(folder, 'one'), join(folder, 'two')];
  for (const theirs of checkouts) {
    await installed(join(theirs, 'deps'), VERSION, 'from the project');
    await symlink('deps/.bin', join(theirs, 'bin'));
    for (const cwd of checkouts) {
      expect(launched(plugin, cwd, join(theirs, 'bin'))).toMatchObject({ status: 1, stdout: '' });
      expect(launched(plugin, cwd, join(theirs, 'bin'), own).stdout).toBe('from PATH --toolsets native\n');
    }
  }
});

test('the plugin starts no other version, and no script, which can run another program in each folder', async () => {
  const old = await installed(join(folder, 'old'), '0.0.1', 'an old one');
  const shim = join(folder, 'shim');
  await mkdir(shim);
  await writeFile(join(shim, 'claude-code-bridge'), `#!/bin/sh\necho ${VERSION}\n`, { mode: 0o755 });
  expect(launched(plugin, project, old, shim)).toMatchObject({ status: 1, stdout: '' });
});

test('the plugin starts first what is installed in its own folder', async () => {
  const copy = join(folder, 'plugin');
  await cp(plugin, copy, { recursive: true });
  await installed(join(copy, 'node_modules'), VERSION, 'from its own folder');
  const own = await installed(join(folder, 'global'), VERSION, 'from PATH');
  // Also in a session that runs above it, such as in the home directory.
  expect(launched(copy, folder, own).stdout).toBe('from its own folder --toolsets native\n');
});
