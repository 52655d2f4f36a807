import { spawnSync } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { VERSION } from '../../../src/base/version.js';

const plugin = join(import.meta.dirname, '../../../plugins/code-bridge');
let folder: string;
let project: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'bridge-plugin-')));
  project = join(folder, 'project');
  await mkdir(project);
});

afterEach(() => rm(folder, { recursive: true, force: true }));

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

async function script(name: string, lines: string): Promise<string> {
  const bin = join(folder, name);
  await mkdir(bin);
  await writeFile(join(bin, 'claude-code-bridge'), `#!/bin/sh\n${lines}\n`);
  await chmod(join(bin, 'claude-code-bridge'), 0o755);
  return bin;
}

function launched(launcher: string, ...path: string[]) {
  const PATH = [...path, dirname(process.execPath), '/usr/bin', '/bin'].join(':');
  const options = { cwd: project, env: { PATH, HOME: folder }, encoding: 'utf8' as const };
  return spawnSync(process.execPath, [join(launcher, 'launch.mjs'), '--toolsets', 'native'], options);
}

test('the plugin starts its own version from PATH, and nothing that a project has installed', async () => {
  const own = await installed(join(folder, 'global'), VERSION, 'from PATH');
  const theirs = await installed(join(project, 'node_modules'), VERSION, 'from the project');
  // npm puts the project's programs first for its scripts, also by a link from elsewhere.
  const linked = join(folder, 'linked');
  await symlink(theirs, linked);
  expect(launched(plugin, theirs, linked, 'node_modules/.bin', '', own).stdout).toBe(
    'from PATH --toolsets native\n',
  );
  const without = launched(plugin, theirs, linked);
  expect(without).toMatchObject({ status: 1, stdout: '' });
  expect(without.stderr).toContain(`npm install -g claude-code-bridge@${VERSION}`);
});

test('the plugin starts no other version, and a script on PATH that says the right one', async () => {
  const old = await installed(join(folder, 'old'), '0.0.1', 'an old one');
  const lies = await script('other', 'echo 0.0.2');
  expect(launched(plugin, old, lies)).toMatchObject({ status: 1, stdout: '' });
  const shim = await script(
    'shim',
    `[ "$1" = --version ] && { echo ${VERSION}; exit; }\necho "a script $*"; exit 3`,
  );
  expect(launched(plugin, old, lies, shim)).toMatchObject({
    status: 3,
    stdout: 'a script --toolsets native\n',
  });
});

test('the plugin starts first what is installed in its own folder', async () => {
  const copy = join(folder, 'plugin');
  await cp(plugin, copy, { recursive: true });
  await installed(join(copy, 'node_modules'), VERSION, 'from its own folder');
  const own = await installed(join(folder, 'global'), VERSION, 'from PATH');
  expect(launched(copy, own).stdout).toBe('from its own folder --toolsets native\n');
});
