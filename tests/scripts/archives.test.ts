import { createReadStream } from 'node:fs';
import { chmod, mkdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { expect, it } from 'vitest';
import { packTar } from '../../scripts/release/pack-tar.js';
import { packZip } from '../../scripts/release/pack-zip.js';
import { tempFolder } from '../config/temp-folder.js';

/** A tree as a strict umask makes it, with a program and a page, both of the given time. */
async function tree(time: Date): Promise<string> {
  const root = await tempFolder();
  await mkdir(join(root, 'app'), { mode: 0o700 });
  await writeFile(join(root, 'app', 'program'), '#!/bin/sh\n');
  await chmod(join(root, 'app', 'program'), 0o700);
  await writeFile(join(root, 'README.md'), '# Read me\n');
  await chmod(join(root, 'README.md'), 0o600);
  for (const path of ['app/program', 'app', 'README.md']) await utimes(join(root, path), time, time);
  return root;
}

async function headers(file: string): Promise<Header[]> {
  const entries = createReadStream(file).pipe(createGunzip()).pipe(extract());
  const found: Header[] = [];
  for await (const entry of entries) {
    found.push(entry.header);
    entry.resume();
  }
  return found;
}

it('an archive of a folder can be read by every user, whatever the umask was', async () => {
  const file = join(await tempFolder(), 'archive.tar.gz');
  await packTar(await tree(new Date()), file);
  const found = (await headers(file)).map(({ name, mode, uid, gid }) => [name, mode?.toString(8), uid, gid]);
  expect(found).toEqual([
    ['README.md', '644', 0, 0],
    ['app', '755', 0, 0],
    ['app/program', '755', 0, 0],
  ]);
});

it.each([
  ['tar', packTar],
  ['zip', packZip],
] as const)(
  'archives of the same files have the same bytes, whenever the files were made (%s)',
  async (_, pack) => {
    const folder = await tempFolder();
    const [first, second] = [join(folder, 'first'), join(folder, 'second')];
    await pack(await tree(new Date('2020-01-01')), first);
    await pack(await tree(new Date('2024-02-29')), second);
    expect(await readFile(second)).toEqual(await readFile(first));
  },
);

it('a link is not packed', async () => {
  const root = await tree(new Date());
  await symlink('/etc/hostname', join(root, 'link'));
  await expect(packTar(root, join(await tempFolder(), 'archive'))).rejects.toThrow(
    'neither a file nor a folder',
  );
});
