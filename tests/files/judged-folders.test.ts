import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { JudgedFolders, type JudgedFolder } from '../../src/files/judged-folders.js';
import { tempFolder } from '../config/temp-folder.js';
import { writeTree } from './explorer.js';

const LATER_MS = 60_000;
const later = (): number => Date.now() + LATER_MS;

interface Looked {
  readonly root: string;
  readonly folders: JudgedFolders;
  /** Looks at `a` and `a/b`. */
  readonly look: () => { a: JudgedFolder | undefined; b: JudgedFolder | undefined; isRepository: boolean };
}

async function looked(now = later): Promise<Looked> {
  const root = await tempFolder();
  await writeTree(root, { 'a/.gitignore': 'x\n', 'a/b/c': '' });
  const folders = new JudgedFolders((await stat(root)).dev, now);
  const look: Looked['look'] = () => {
    const a = folders.look('a', join(root, 'a'), folders.first);
    const b = folders.look('a/b', join(root, 'a/b'), a.judged);
    return { a: a.judged, b: b.judged, isRepository: a.isRepository || b.isRepository };
  };
  return { root, folders, look };
}

/** Writes the file anew until its time is another one. */
async function untilLater(file: string): Promise<void> {
  const { ctimeMs } = await stat(file);
  do await writeFile(file, 'y\n');
  while ((await stat(file)).ctimeMs < ctimeMs + 5);
}

describe('a folder in which git has judged names', () => {
  test('is the same as long as nothing in it comes or goes', async () => {
    const { root, look } = await looked();
    const before = look();
    expect(before.b?.above).toBe(before.a);
    await writeFile(join(root, 'a/b/c'), 'other content');
    expect(look()).toEqual(before);
    expect(look().b).toBe(before.b);
  });

  test.each([
    ['a name came', (root: string) => writeFile(join(root, 'a/new'), '')],
    ['its rules were written anew', (root: string) => writeFile(join(root, 'a/.gitignore'), 'y\n')],
    ['its rules went', (root: string) => rm(join(root, 'a/.gitignore'))],
    [
      'it was put in the place of another',
      async (root: string) => {
        await rename(join(root, 'a'), join(root, 'was'));
        await writeTree(root, { 'a/.gitignore': 'x\n', 'a/b/c': '' });
      },
    ],
  ])('is another one when %s, and so are those in it', async (_name, change) => {
    const { root, look } = await looked();
    const before = look();
    await change(root);
    const after = look();
    expect(after.a).toBeDefined();
    expect(after.a).not.toBe(before.a);
    expect(after.b).not.toBe(before.b);
  });

  test.each(['a', 'a/b'])('is none of ours when %s is a repository of its own', async (path) => {
    const { root, look } = await looked();
    look();
    await mkdir(join(root, path, '.git'));
    expect(look()).toMatchObject({ isRepository: true, b: undefined });
  });

  test('is not kept when it, or its ignore file, was changed within two seconds', async () => {
    let nowMs = 0;
    const { root, folders, look } = await looked(() => nowMs);
    const lookBelow = () => folders.look('a/b', join(root, 'a/b'), folders.first).judged;
    const times = async (path: string): Promise<number> => (await stat(join(root, path))).ctimeMs;
    nowMs = (await times('a/b')) + 1_999;
    expect(lookBelow()).toBeUndefined();
    nowMs = (await times('a/b')) + 2_001;
    expect(lookBelow()).toBeDefined();
    nowMs = Math.max(await times('a'), await times('a/.gitignore')) + 2_001;
    expect(look().a).toBeDefined();
    await untilLater(join(root, 'a/.gitignore'));
    nowMs = (await times('a')) + 2_001;
    expect(look().a).toBeUndefined();
  });

  test('is not kept on another file system', async () => {
    const { root } = await looked();
    const folders = new JudgedFolders(-1, later);
    expect(folders.look('a', join(root, 'a'), folders.first).judged).toBeUndefined();
  });

  test('is not kept when the one above it is not, or when it is gone', async () => {
    const { root, folders } = await looked();
    expect(folders.look('a/b', join(root, 'a/b'), undefined).judged).toBeUndefined();
    expect(folders.look('gone', join(root, 'gone'), folders.first).judged).toBeUndefined();
  });

  test('is forgotten with all others when too much is kept', async () => {
    const { folders, look } = await looked();
    const { a } = look();
    if (a === undefined) throw new Error('Nothing is kept.');
    for (let name = 0; name < 20_000; name++) folders.keep(a, `n${name}`, false);
    expect(folders.known('a')).toBeUndefined();
    expect(look().a).not.toBe(a);
  });
});
