import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { ownCommand } from '../../src/cli/own-command.js';
import { tempFolder } from '../config/temp-folder.js';

let folder: string;
let entry: string;
let bin: string;

beforeEach(async () => {
  folder = await tempFolder();
  entry = join(folder, 'lib', 'node_modules', 'claude-code-bridge', 'dist', 'main.js');
  bin = join(folder, 'bin');
  await mkdir(join(entry, '..'), { recursive: true });
  await mkdir(bin);
  await writeFile(entry, '');
});

describe('a person runs this installation', () => {
  it('by its name, if PATH leads to it', async () => {
    const link = join(bin, 'claude-code-bridge');
    await symlink(entry, link);
    const path = `relative:/nowhere:${bin}`;
    expect(await ownCommand({ entry: link, path, homeDir: '/home/ann' })).toBe('claude-code-bridge');
    expect(await ownCommand({ entry, path, homeDir: '/home/ann' })).toBe('claude-code-bridge');
  });

  it('by Node, if PATH leads to another one or to none', async () => {
    await writeFile(join(bin, 'claude-code-bridge'), '');
    expect(await ownCommand({ entry, path: bin, homeDir: '/home/ann' })).toBe(`node ${entry}`);
    expect(await ownCommand({ entry, path: undefined, homeDir: folder })).toBe(
      'node ~/lib/node_modules/claude-code-bridge/dist/main.js',
    );
  });

  it('by npx, if npx started it', async () => {
    const npx = join(folder, '_npx', 'a1b2', 'node_modules', '.bin');
    await mkdir(npx, { recursive: true });
    const link = join(npx, 'claude-code-bridge');
    await symlink(entry, link);
    expect(await ownCommand({ entry: link, path: npx, homeDir: '/home/ann' })).toBe('npx claude-code-bridge');
  });

  it.each([
    ["/home/ann/it's here/main.js", String.raw`node '/home/ann/it'\''s here/main.js'`],
    ['/home/ann/$(id)/main.js', "node '/home/ann/$(id)/main.js'"],
    ['/home/annie/main.js', 'node /home/annie/main.js'],
  ])('by a path that a shell reads: %s', async (path, command) => {
    expect(await ownCommand({ entry: path, path: '/usr/bin', homeDir: '/home/ann' })).toBe(command);
  });
});
