import { closeSync, fstatSync, openSync, type Stats } from 'node:fs';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { CachedNames, type FolderNames } from '../../../src/files/list/cached-names.js';
import { namesIn } from '../../../src/files/list/folder-names.js';
import { compareNames } from '../../../src/files/list/list-order.js';
import type { WalkEntry } from '../../../src/files/list/walk-entry.js';
import { tempFolder } from '../../config/temp-folder.js';

const MANY = 600;
/** Longer than the longest tick of a file system's clock. */
const LATER_MS = 10_000;

let folder: string;

beforeEach(async () => {
  folder = await tempFolder();
  for (let index = 0; index < MANY; index++) await writeFile(join(folder, `Name-${index}.txt`), '');
  await mkdir(join(folder, 'zone'));
});

/** Reads the folder as a walk does; `isLocal`: as one on a file system of this machine. */
async function read(cache: CachedNames, isLocal = true): Promise<FolderNames> {
  const fd = openSync(folder, 'r');
  try {
    const localDev = isLocal ? fstatSync(fd).dev : undefined;
    const names = await namesIn({ fdPath: folder, fd, localDev }, cache);
    if ('error' in names) throw new Error(names.error);
    return names;
  } finally {
    closeSync(fd);
  }
}

function later(): CachedNames {
  return new CachedNames(() => Date.now() + LATER_MS);
}

function sorted(entries: readonly WalkEntry[]): WalkEntry[] {
  return [...entries].sort(compareNames);
}

function namesOf({ entries }: FolderNames): string[] {
  return entries.map(({ name }) => name);
}

describe('the names in a large folder', () => {
  it('come from the cache, sorted, while the folder is unchanged', async () => {
    const cache = later();
    const first = await read(cache);
    expect(first.entries).toEqual(sorted(first.entries));
    expect((await read(cache)).entries).toBe(first.entries);
  });

  it.each([
    { change: 'added', make: () => writeFile(join(folder, 'new.txt'), '') },
    { change: 'removed', make: () => rm(join(folder, 'Name-7.txt')) },
    { change: 'another', make: () => rename(join(folder, 'Name-7.txt'), join(folder, 'other')) },
    {
      change: 'replaced by another',
      make: async () => {
        await symlink('/nowhere', join(folder, '.link'));
        await rename(join(folder, '.link'), join(folder, 'Name-7.txt'));
      },
    },
  ])('are read anew when one is $change', async ({ make }) => {
    const cache = later();
    await read(cache);
    await read(cache);
    await make();
    const fresh = await read(new CachedNames(() => Date.now()));
    expect((await read(cache)).entries).toEqual(fresh.entries);
  });

  it('are read again when the folder may have changed within the clock tick of the read', async () => {
    const cache = new CachedNames(() => Date.now());
    const first = await read(cache);
    const again = await read(cache);
    expect(again.entries).not.toBe(first.entries);
    expect((await read(cache)).entries).not.toBe(again.entries);
  });

  it('are read again on a remote file system, which has another clock', async () => {
    const cache = later();
    const first = await read(cache, false);
    expect((await read(cache, false)).entries).not.toBe(first.entries);
  });

  it('report a repository and an unreadable ignore file each time', async () => {
    await mkdir(join(folder, '.git'));
    const cache = later();
    const { entries } = await read(cache);
    expect(await read(cache)).toEqual({ entries, hasGit: true, hasPipe: false });
    expect(namesOf(await read(cache))).not.toContain('.git');
  });

  it('are not cached for a small folder', async () => {
    for (let index = 0; index < MANY / 2; index++) await rm(join(folder, `Name-${index}.txt`));
    const cache = later();
    const { entries } = await read(cache);
    expect((await read(cache)).entries).not.toBe(entries);
  });
});

describe('the cache of many folders', () => {
  const base = { mtimeMs: 1, ctimeMs: 1, size: 1, dev: 1 };

  function stats(): Stats {
    const fd = openSync(folder, 'r');
    try {
      return fstatSync(fd);
    } finally {
      closeSync(fd);
    }
  }

  function folderOf(ino: number): Stats {
    return Object.assign(stats(), base, { ino });
  }

  function names(count: number): FolderNames {
    const entries = Array.from({ length: count }, (_, index): WalkEntry => {
      return { name: `${index}`, lower: `${index}`, type: 'file', isFolder: false };
    });
    return { entries, hasGit: false, hasPipe: false };
  }

  it('is bounded, and evicts the least recently used', () => {
    const cache = later();
    cache.set(folderOf(1), names(20_000));
    cache.set(folderOf(2), names(20_000));
    expect(cache.get(folderOf(1))).toBeDefined();
    cache.set(folderOf(3), names(20_000));
    expect(cache.get(folderOf(2))).toBeUndefined();
    expect(cache.get(folderOf(1))?.entries).toHaveLength(20_000);
    expect(cache.get(folderOf(3))?.entries).toHaveLength(20_000);
  });

  it('stores nothing of a folder that is larger than the bound', () => {
    const cache = later();
    cache.set(folderOf(1), names(60_000));
    expect(cache.get(folderOf(1))).toBeUndefined();
  });

  it('evicts a folder immediately when its time has changed, and frees its space', () => {
    const cache = later();
    cache.set(folderOf(1), names(40_000));
    expect(cache.get(Object.assign(folderOf(1), { ctimeMs: 2 }))).toBeUndefined();
    expect(cache.get(folderOf(1))).toBeUndefined();
    cache.set(folderOf(2), names(40_000));
    expect(cache.get(folderOf(2))).toBeDefined();
  });
});
