import { execFileSync } from 'node:child_process';
import { mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolders } from '../../../src/base/files/make-folders.js';
import { tempFolder } from '../../config/temp-folder.js';

const OWNER_ONLY = 0o700;

test('a folder is made with its parents, and one that exists keeps its mode', async () => {
  const folder = await tempFolder();
  const path = join(folder, 'a', 'b', 'c');
  await makeFolders(path, OWNER_ONLY);
  expect((await stat(join(folder, 'a'))).mode & 0o777).toBe(OWNER_ONLY);
  await makeFolders(join(folder, 'a'), 0o755);
  expect((await stat(join(folder, 'a'))).mode & 0o777).toBe(OWNER_ONLY);
});

test('many callers can make the same folders concurrently', async () => {
  const path = join(await tempFolder(), 'a', 'b', 'c', 'd');
  await Promise.all(Array.from({ length: 50 }, () => makeFolders(path, OWNER_ONLY)));
  expect((await stat(path)).isDirectory()).toBe(true);
});

test.each([
  ['a file', 'file', 'EEXIST'],
  ['below a file', 'file/x', 'ENOTDIR'],
  ['a link to nothing', 'nowhere', 'EEXIST'],
])('%s in its place is reported', async (_what, name, code) => {
  const folder = await tempFolder();
  await writeFile(join(folder, 'file'), '');
  await symlink(join(folder, 'nothing'), join(folder, 'nowhere'));
  await expect(makeFolders(join(folder, name), OWNER_ONLY)).rejects.toMatchObject({ code });
});

const isRootOnLinux = process.platform === 'linux' && process.getuid?.() === 0;

test.runIf(isRootOnLinux)('a read-only disk is named, and not a missing folder', async () => {
  const mounted = join(await tempFolder(), 'disk');
  await mkdir(mounted);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'none', mounted]);
  onTestFinished(() => {
    execFileSync('umount', [mounted]);
  });
  await expect(makeFolders(join(mounted, 'a', 'b'), OWNER_ONLY)).rejects.toMatchObject({ code: 'EROFS' });
});
