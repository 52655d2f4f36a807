import { closeSync, fstatSync, openSync, type Stats } from 'node:fs';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { namesIn } from '../../src/files/folder-names.js';
import { KeptNames, type FolderNames } from '../../src/files/kept-names.js';
import { compareNames } from '../../src/files/list-order.js';
import type { WalkEntry } from '../../src/files/walk-entry.js';
import { WalkPause } from '../../src/files/walk-pause.js';
import { tempFolder } from '../config/temp-folder.js';

const MANY = 600;
/** Longer than the longest tick of a file system's clock. */
const LATER_MS = 10_000;

let folder: string;

beforeEach(async () => {
  folder = await tempFolder();
  for (let index = 0; index < MANY; index++) await writeFile(join(folder, `Name-${index}.txt`), '');
  await mkdir(join(folder, 'zone'));
});

/** Reads the folder as a walk does; `isNear`: as one on a file system of this machine. */
async function read(kept: KeptNames, isNear = true): Promise<FolderNames> {
  const fd = openSync(folder, 'r');
  try {
    const nearDev = isNear ? fstatSync(fd).dev : undefined;
    const pause = new WalkPause(new AbortController().signal);
    const names = await namesIn({ place: folder, fd, nearDev, pause }, kept);
    if ('fault' in names) throw new Error(names.fault);
    return names;
  } finally {
    closeSync(fd);
  }
}

function later(): KeptNames {
  return new KeptNames(() => Date.now() + LATER_MS);
}

function sorted(entries: readonly WalkEntry[]): WalkEntry[] {
  return [...entries].sort(compareNames);
}

function namesOf({ entries }: FolderNames): string[] {
  return entries.map(({ name }) => name);
}

describe('the names in a large folder', () => {
  it('are those that were read before, and in order, while the folder is as it was', async () => {
    const kept = later();
    const first = await read(kept);
    expect(first).toMatchObject({ isOrdered: false });
    const again = await read(kept);
    expect(again).toEqual({ ...first, entries: sorted(first.entries), isOrdered: true });
    expect((await read(kept)).entries).toBe(again.entries);
  });

  it.each([
    { change: 'added', make: () => writeFile(join(folder, 'new.txt'), '') },
    { change: 'removed', make: () => rm(join(folder, 'Name-7.txt')) },
    { change: 'another', make: () => rename(join(folder, 'Name-7.txt'), join(folder, 'other')) },
    {
      change: 'put in the place of another',
      make: async () => {
        await symlink('/nowhere', join(folder, '.link'));
        await rename(join(folder, '.link'), join(folder, 'Name-7.txt'));
      },
    },
  ])('are read anew when one is $change', async ({ make }) => {
    const kept = later();
    await read(kept);
    await read(kept);
    await make();
    const fresh = await read(new KeptNames(() => Date.now()));
    expect((await read(kept)).entries).toEqual(fresh.entries);
  });

  it('are read anew when the folder may have changed within the tick in which it was read', async () => {
    const kept = new KeptNames(() => Date.now());
    const first = await read(kept);
    const again = await read(kept);
    expect(again.entries).not.toBe(first.entries);
    expect((await read(kept)).entries).not.toBe(again.entries);
    expect(again.isOrdered).toBe(false);
  });

  it('are read anew on another machine’s file system, whose clock is another', async () => {
    const kept = later();
    await read(kept, false);
    expect(await read(kept, false)).toMatchObject({ isOrdered: false });
  });

  it('tell of a repository and of an ignore file that nobody can read each time', async () => {
    await mkdir(join(folder, '.git'));
    const kept = later();
    await read(kept);
    expect(await read(kept)).toMatchObject({ isRepository: true, hasTrap: false, isOrdered: true });
    expect(namesOf(await read(kept))).not.toContain('.git');
  });

  it('are not kept of a small folder', async () => {
    for (let index = 0; index < MANY / 2; index++) await rm(join(folder, `Name-${index}.txt`));
    const kept = later();
    await read(kept);
    expect(await read(kept)).toMatchObject({ isOrdered: false });
  });
});

describe('what is kept of many folders', () => {
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
      return { name: `${index}`, type: 'file', isFolder: false };
    });
    return { entries, isOrdered: false, isRepository: false, hasTrap: false };
  }

  it('has a bound, and what was used last stays', () => {
    const kept = later();
    kept.keep(folderOf(1), names(20_000));
    kept.keep(folderOf(2), names(20_000));
    expect(kept.of(folderOf(1))).toBeDefined();
    kept.keep(folderOf(3), names(20_000));
    expect(kept.of(folderOf(2))).toBeUndefined();
    expect(kept.of(folderOf(1))?.entries).toHaveLength(20_000);
    expect(kept.of(folderOf(3))?.entries).toHaveLength(20_000);
  });

  it('holds nothing of a folder that is larger than the bound', () => {
    const kept = later();
    kept.keep(folderOf(1), names(60_000));
    expect(kept.of(folderOf(1))).toBeUndefined();
  });

  it('is put in order once it is asked for, but for so many that others would wait for it', () => {
    const kept = later();
    kept.keep(folderOf(1), names(12_000));
    kept.keep(folderOf(2), names(12_001));
    expect(kept.of(folderOf(1))?.isOrdered).toBe(true);
    expect(kept.of(folderOf(2))).toEqual(names(12_001));
  });

  it('is forgotten at once with another time of the folder, and the place is free', () => {
    const kept = later();
    kept.keep(folderOf(1), names(40_000));
    expect(kept.of(Object.assign(folderOf(1), { ctimeMs: 2 }))).toBeUndefined();
    expect(kept.of(folderOf(1))).toBeUndefined();
    kept.keep(folderOf(2), names(40_000));
    expect(kept.of(folderOf(2))).toBeDefined();
  });
});
