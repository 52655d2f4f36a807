import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findRipgrep } from '../../src/os/find-ripgrep.js';
import { tempFolder } from '../harness/temp-folder.js';

const notInstalled = () => Promise.reject(new Error('Could not find @vscode/ripgrep-linux-x64.'));

test('the packaged ripgrep comes first, whatever is on PATH', async () => {
  const load = () => Promise.resolve({ rgPath: '/packaged/rg' });
  expect(await findRipgrep('/usr/bin', [], load)).toBe('/packaged/rg');
});

test('without the package it is the first rg on PATH that is really outside of the allowed roots', async () => {
  const folder = await tempFolder();
  const [root, linked, good] = [join(folder, 'root'), join(folder, 'linked'), join(folder, 'good')];
  for (const made of [root, linked, good]) await mkdir(made);
  for (const made of [root, good]) await writeFile(join(made, 'rg'), '#!/bin/sh\n', { mode: 0o755 });
  await symlink(join(root, 'rg'), join(linked, 'rg'));
  const path = ['.', root, linked, good].join(':');
  expect(await findRipgrep(path, [root], notInstalled)).toBe(join(good, 'rg'));
  expect(await findRipgrep(`${root}:${linked}`, [root], notInstalled)).toBeUndefined();
  expect(await findRipgrep(path, [], notInstalled)).toBe(join(root, 'rg'));
});
