import { mkdirSync, mkdtempSync, rmdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FolderNames } from '../../src/store/folder-names.js';

const LATER_MS = 60_000;

describe('the names of the folders in a folder', () => {
  let folder: string;
  /** Looks from a minute ahead, so that what the folder holds counts as settled. */
  let settled: FolderNames;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'folder-names-'));
    settled = new FolderNames(folder, () => Date.now() + LATER_MS);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('are those of its folders only', async () => {
    mkdirSync(join(folder, 'one'));
    writeFileSync(join(folder, 'file'), '');
    expect(await settled.list()).toEqual(['one']);
  });

  it('are the same list while nothing is added or removed', async () => {
    mkdirSync(join(folder, 'one'));
    expect(await settled.list()).toBe(await settled.list());
  });

  it('are read again when one was added, and when one is gone', async () => {
    mkdirSync(join(folder, 'one'));
    await settled.list();
    mkdirSync(join(folder, 'two'));
    // The clock of the file system may not have ticked in between.
    utimesSync(folder, new Date(), new Date(Date.now() + LATER_MS / 10));
    expect([...(await settled.list())].sort()).toEqual(['one', 'two']);
    rmdirSync(join(folder, 'one'));
    utimesSync(folder, new Date(), new Date(Date.now() + LATER_MS / 5));
    expect(await settled.list()).toEqual(['two']);
  });

  it('are not cached while a change could still hide within one clock tick', async () => {
    const recent = new FolderNames(folder);
    mkdirSync(join(folder, 'one'));
    const first = await recent.list();
    const second = await recent.list();
    expect(first).toEqual(second);
    expect(first).not.toBe(second);
  });

  it('are none for a missing folder, and new ones for the folder that replaces it', async () => {
    mkdirSync(join(folder, 'one'));
    await settled.list();
    rmSync(folder, { recursive: true });
    expect(await settled.list()).toEqual([]);
    mkdirSync(join(folder, 'other'), { recursive: true });
    expect(await settled.list()).toEqual(['other']);
  });
});
