import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownNode } from '../../../src/keeper/host/own-node.js';
import { tempFolder } from '../../config/temp-folder.js';

/** What a desktop app starts with. */
const inApp = { execPath: '/Applications/App/Helper', versions: { electron: '40.0.0' } };

/** A program that says it is Node of that version. */
async function installNode(folder: string, version: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, 'node');
  await writeFile(path, `#!/bin/sh\necho ${version}\n`);
  await chmod(path, 0o755);
  return path;
}

test('a server that Node runs starts its keepers by the same Node', async () => {
  expect(await ownNode({ ...inApp, versions: { node: '22.0.0' }, env: {} })).toBe(inApp.execPath);
});

test('a server that an old Node runs says which one tasks need', async () => {
  await expect(ownNode({ ...inApp, versions: { node: '18.20.4' }, env: {} })).rejects.toThrow(
    /^Tasks need Node \d+\.\d+\.\d+ or newer, and this server runs in Node 18\.20\.4\.$/,
  );
});

test('inside a desktop app with a short PATH, the newest Node of nvm is used', async () => {
  const home = await tempFolder();
  await installNode(join(home, '.nvm/versions/node/v8.17.0/bin'), 'v8.17.0');
  const newest = await installNode(join(home, '.nvm/versions/node/v22.9.0/bin'), 'v22.9.0');
  await installNode(join(home, '.nvm/versions/node/v20.20.0/bin'), 'v20.20.0');
  expect(await ownNode({ ...inApp, env: { HOME: home, PATH: join(home, 'none') } })).toBe(newest);
});

test('a Node that is too old, or no Node at all, is passed over', async () => {
  const home = await tempFolder();
  await installNode(join(home, 'old'), 'v20.11.1');
  await installNode(join(home, 'other'), 'hello');
  const good = await installNode(join(home, '.volta/bin'), 'v20.12.0');
  const path = [join(home, 'old'), join(home, 'other')].join(':');
  expect(await ownNode({ ...inApp, env: { HOME: home, PATH: path } })).toBe(good);
});
