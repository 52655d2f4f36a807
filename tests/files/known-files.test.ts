import { open, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { JudgedFolders } from '../../src/files/judged-folders.js';
import { KnownFiles } from '../../src/files/known-files.js';
import { Verdicts } from '../../src/files/verdicts.js';
import { tempFolder } from '../config/temp-folder.js';
import { writeTree } from './explorer.js';

const LATER_MS = 60_000;
const later = (): number => Date.now() + LATER_MS;

/** A folder in which git has judged five files; a rule hides `a/unseen.log`, `c/unseen.log` and `a/b/tracked.log`, which is tracked all the same. */
async function judged(
  searchedMs: (changedMs: number) => number = later,
  way?: string,
  isBusy = false,
): Promise<{
  root: string;
  folders: JudgedFolders;
  of: (...paths: string[]) => KnownFiles | undefined;
}> {
  const root = await tempFolder();
  await writeTree(root, {
    'a/b/seen.txt': 'seen',
    'a/b/tracked.log': 'tracked',
    'a/unseen.log': 'unseen',
    'a/large.txt': 'x'.repeat(200_000),
    'c/unseen.log': 'unseen',
  });
  const handle = await open(root);
  onTestFinished(() => handle.close());
  const { dev, ctimeMs } = await handle.stat();
  const folders = new JudgedFolders(dev, later);
  const a = folders.look('a', join(root, 'a'), folders.first).judged;
  const b = folders.look('a/b', join(root, 'a/b'), a).judged;
  const c = folders.look('c', join(root, 'c'), folders.first).judged;
  if (a === undefined || b === undefined || c === undefined)
    throw new Error('Nothing is kept of the folders.');
  folders.keep(b, 'seen.txt', false);
  folders.keep(a, 'large.txt', false);
  folders.keep(a, 'unseen.log', true);
  folders.keep(b, 'tracked.log', true);
  folders.keep(c, 'unseen.log', true);
  const options = {
    place: way ?? `/proc/self/fd/${handle.fd}`,
    verdicts: new Verdicts(folders, searchedMs(ctimeMs), () => true),
    tracked: new Set(['a/b/tracked.log']),
    // Each file is a part of its own then.
    pause: { isDue: () => isBusy, wait: async () => undefined },
  };
  return { root, folders, of: (...paths) => KnownFiles.of(paths, options) };
}

async function textsOf(known: KnownFiles | undefined): Promise<(readonly [string, string | undefined])[]> {
  const texts: (readonly [string, string | undefined])[] = [];
  for await (const part of known?.texts() ?? []) for (const { path, text } of part) texts.push([path, text]);
  return texts;
}

describe.runIf(process.platform === 'linux')('files that were judged before', () => {
  test('are read, but for those that a rule hides and nobody tracks', async () => {
    const known = (await judged()).of('a/b/seen.txt', 'a/b/tracked.log', 'a/large.txt', 'a/unseen.log');
    expect(await textsOf(known)).toEqual([
      ['a/b/seen.txt', 'seen'],
      ['a/b/tracked.log', 'tracked'],
      ['a/large.txt', 'x'.repeat(200_000)],
    ]);
    expect(known?.held()).toBe(true);
  });

  test('are all of them, or none', async () => {
    const { of } = await judged();
    expect(of('a/b/seen.txt', 'a/b/another.txt')).toBeUndefined();
    expect(of('a/b/seen.txt', 'c/seen.txt')).toBeUndefined();
    expect(of('a/b/seen.txt', 'd/seen.txt')).toBeUndefined();
    expect(of()?.held()).toBe(true);
  });

  test.each([
    [
      'a folder was a link while they were read',
      async (root: string, outside: string) => {
        await rename(join(root, 'a/b'), join(outside, 'b'));
        await symlink(join(outside, 'evil'), join(root, 'a/b'));
        return async () => {
          await rm(join(root, 'a/b'));
          await rename(join(outside, 'b'), join(root, 'a/b'));
        };
      },
    ],
    [
      'a folder above was a link while they were read',
      async (root: string, outside: string) => {
        await writeTree(outside, { 'also/b/seen.txt': 'secret' });
        await rename(join(root, 'a'), join(outside, 'a'));
        await symlink(join(outside, 'also'), join(root, 'a'));
        return async () => {
          await rm(join(root, 'a'));
          await rename(join(outside, 'a'), join(root, 'a'));
        };
      },
    ],
    [
      'the file was a link while they were read',
      async (root: string, outside: string) => {
        await rename(join(root, 'a/b/seen.txt'), join(outside, 'seen.txt'));
        await writeFile(join(root, 'a/b/seen.txt'), 'secret');
        return async () => {
          await rename(join(outside, 'seen.txt'), join(root, 'a/b/seen.txt'));
        };
      },
    ],
  ])('do not count where %s', async (_name, swap) => {
    const { root, of } = await judged();
    const outside = await tempFolder();
    await writeTree(outside, { 'evil/seen.txt': 'secret' });
    const known = of('a/b/seen.txt');
    const back = await swap(root, outside);
    expect(await textsOf(known)).toEqual([['a/b/seen.txt', 'secret']]);
    await back();
    expect(known?.held()).toBe(false);
  });

  test('do not count where the first folder was changed shortly before the search', async () => {
    const { of } = await judged((changedMs) => changedMs + 1_999);
    const known = of('a/b/seen.txt');
    expect(await textsOf(known)).toEqual([['a/b/seen.txt', 'seen']]);
    expect(known?.held()).toBe(false);
  });

  test('are not known where the folder above was another when they were judged, and do not count where it is meanwhile', async () => {
    const { root, folders, of } = await judged();
    const known = of('a/b/seen.txt');
    await writeFile(join(root, 'a/new'), '');
    expect(folders.look('a', join(root, 'a'), folders.first).judged).toBeDefined();
    await rm(join(root, 'a/new'));
    expect(of('a/b/seen.txt')).toBeUndefined();
    expect(await textsOf(known)).toEqual([['a/b/seen.txt', 'seen']]);
    expect(known?.held()).toBe(false);
  });

  test('do not count where one that is hidden may be hidden no more, also behind the last that is not', async () => {
    const { root, of } = await judged();
    const known = of('a/b/seen.txt', 'c/unseen.log');
    expect(await textsOf(known)).toEqual([['a/b/seen.txt', 'seen']]);
    await writeFile(join(root, 'c/.gitignore'), '!*.log');
    expect(known?.held()).toBe(false);
  });

  test('count as far as they were read, whatever became of folders on the way to others', async () => {
    const { root, of } = await judged(later, undefined, true);
    const [one, other] = [of('a/large.txt', 'a/b/seen.txt'), of('a/b/seen.txt', 'a/large.txt')];
    for (const known of [one, other]) {
      for await (const part of known?.texts() ?? []) {
        expect(part).toHaveLength(1);
        break;
      }
    }
    await writeFile(join(root, 'a/b/new'), '');
    expect([one?.held(), other?.held()]).toEqual([true, false]);
  });

  test('do not count where there was no way to them for a while, so that some did not come', async () => {
    const way = join(await tempFolder(), 'way');
    const { root, of } = await judged(later, way);
    const known = of('a/b/seen.txt');
    expect(await textsOf(known)).toEqual([]);
    await symlink(root, way);
    expect(known?.held()).toBe(false);
    const again = of('a/b/seen.txt');
    expect(await textsOf(again)).toHaveLength(1);
    expect(again?.held()).toBe(true);
  });

  test('do not count where a name came meanwhile', async () => {
    const { root, of } = await judged();
    const known = of('a/b/seen.txt');
    await textsOf(known);
    await writeFile(join(root, 'a/b/.gitignore'), '*');
    expect(known?.held()).toBe(false);
  });
});
