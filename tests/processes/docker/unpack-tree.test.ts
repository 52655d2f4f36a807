import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pack, type Header } from 'tar-stream';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { BridgeError } from '../../../src/base/errors.js';
import { unpackTree } from '../../../src/processes/docker/unpack-tree.js';
import { AllowedRoots } from '../../../src/projects/allowed-roots.js';
import { PathOpener } from '../../../src/projects/path-opener.js';

type Row = Partial<Header> & { readonly name: string; readonly content?: string };

let folder: string;
let outside: string;

beforeEach(async () => {
  const base = await mkdtemp(join(tmpdir(), 'unpack-'));
  onTestFinished(() => rm(base, { recursive: true, force: true }));
  folder = join(base, 'inside');
  outside = join(base, 'outside');
  await mkdir(folder);
  await mkdir(outside);
});

/** Unpacks an archive of these entries as `copy` in the folder. */
async function unpack(
  rows: readonly Row[],
  refuse: (path: string) => Promise<void> = () => Promise.resolve(),
) {
  const archive = pack();
  for (const { content = '', ...header } of rows) archive.entry(header, content);
  archive.finalize();
  const opener = new PathOpener(new AllowedRoots([folder], '/'));
  const parent = await opener.openDirectory(folder);
  try {
    return await unpackTree(archive.pipe(new PassThrough()), { parent, name: 'copy', refuse });
  } finally {
    await parent.handle.close();
  }
}

describe('what comes out of a container', () => {
  test('is a file with its content, and keeps no more than ordinary permissions', async () => {
    const answer = await unpack([{ name: 'program', content: 'text\n', mode: 0o6777, uid: 0 }]);
    expect(answer).toEqual({ files: 1, folders: 0, bytes: 5 });
    expect(await readFile(join(folder, 'copy'), 'utf8')).toBe('text\n');
    expect(((await stat(join(folder, 'copy'))).mode & 0o7777).toString(8)).toBe('755');
    expect(await readdir(folder)).toEqual(['copy']);
  });

  test('is a folder with all that is in it, and replaces a regular file in one step', async () => {
    const answer = await unpack([
      { name: 'out/', type: 'directory', mode: 0o755 },
      { name: 'out/empty/', type: 'directory', mode: 0o555 },
      { name: 'out/ä b.txt', content: 'ü' },
    ]);
    expect(answer).toEqual({ files: 1, folders: 2, bytes: 2 });
    expect(await readFile(join(folder, 'copy/ä b.txt'), 'utf8')).toBe('ü');
    await rm(join(folder, 'copy'), { recursive: true });
    await writeFile(join(folder, 'copy'), 'old');
    await unpack([{ name: 'x', content: 'new' }]);
    expect(await readFile(join(folder, 'copy'), 'utf8')).toBe('new');
  });

  test('is not put where a folder or a link is already', async () => {
    await mkdir(join(folder, 'copy'));
    const refused = { code: 'COPY_REFUSED' };
    await expect(unpack([{ name: 'x', content: 'new' }])).rejects.toMatchObject(refused);
    await expect(unpack([{ name: 'x/', type: 'directory' }])).rejects.toMatchObject(refused);
    await rm(join(folder, 'copy'), { recursive: true });
    await writeFile(join(outside, 'secret'), 'old');
    await symlink(join(outside, 'secret'), join(folder, 'copy'));
    await expect(unpack([{ name: 'x', content: 'new' }])).rejects.toMatchObject(refused);
    expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('old');
    expect(await readdir(folder)).toEqual(['copy']);
  });

  test.each<[string, readonly Row[], string]>([
    ['a name with ..', [{ name: 'a/../../outside/x', content: 'x' }], 'leads out'],
    ['an absolute name', [{ name: '/etc/passwd', content: 'x' }], 'leads out'],
    ['a hard link', [{ name: 'a', type: 'link', linkname: '../outside/secret' }], 'is a link'],
    ['a pipe', [{ name: 'a', type: 'fifo' }], 'is a fifo'],
    [
      'a file behind a link of the same archive',
      [
        { name: 'a/', type: 'directory' },
        { name: 'a/b', type: 'symlink', linkname: '../../outside' },
        { name: 'a/b/planted', content: 'x' },
      ],
      'is a symlink',
    ],
    ['a depth without end', [{ name: `${'d/'.repeat(70)}x`, content: 'x' }], 'more than 64 folders deep'],
  ])('refuses %s, and leaves nothing', async (_name, rows, words) => {
    const answer = unpack(rows);
    const message: unknown = expect.stringContaining(words);
    await expect(answer).rejects.toMatchObject({ code: 'COPY_REFUSED', message });
    expect(await readdir(folder)).toEqual([]);
    expect(await readdir(outside)).toEqual([]);
  });

  test('asks for every path whether it may be written', async () => {
    const refuse = async (path: string): Promise<void> => {
      if (path.endsWith('/copy/.git')) throw new BridgeError('PROTECTED_PATH', path, '');
    };
    const rows = [
      { name: 'a/', type: 'directory' as const },
      { name: 'a/ok', content: '' },
      { name: 'a/.git/', type: 'directory' as const },
    ];
    await expect(unpack(rows, refuse)).rejects.toMatchObject({ code: 'PROTECTED_PATH' });
    expect(await readdir(folder)).toEqual([]);
  });
});
