import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inFolder, triedInFolder } from '../../src/files/in-folder.js';

const NOBODY = 65_534;
let root: string;
const own = process.cwd();

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'ccb-in-folder-')));
});
afterEach(() => {
  process.chdir(own);
  rmSync(root, { recursive: true, force: true });
});

describe.runIf(process.platform === 'linux')('inFolder', () => {
  it('looks at names where they lie, and the working directory is what it was', () => {
    writeFileSync(join(root, 'a'), 'abc');
    let size: number | undefined;
    inFolder(root, () => (size = lstatSync('a').size));
    expect(size).toBe(3);
    expect(process.cwd()).toBe(own);
  });

  it('goes back when the work throws', () => {
    expect(() =>
      inFolder(root, () => {
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(process.cwd()).toBe(own);
  });

  it('throws for what is no folder, and the work is not begun', () => {
    let isBegun = false;
    expect(() => inFolder(join(root, 'missing'), () => (isBegun = true))).toThrow('ENOENT');
    expect(isBegun).toBe(false);
    expect(process.cwd()).toBe(own);
  });

  it('is not begun, and no fault, where it is only tried and there is no way', () => {
    let isBegun = false;
    expect(triedInFolder(join(root, 'missing'), () => (isBegun = true))).toBe(false);
    expect(isBegun).toBe(false);
    expect(triedInFolder(root, () => (isBegun = true))).toBe(true);
    expect(isBegun).toBe(true);
    expect(process.cwd()).toBe(own);
  });

  it('goes back to a working directory that was renamed or removed meanwhile', () => {
    const before = join(root, 'before');
    const after = join(root, 'after');
    mkdirSync(before);
    process.chdir(before);
    inFolder(root, () => renameSync(before, after));
    expect(process.cwd()).toBe(after);
    inFolder(root, () => rmSync(after, { recursive: true }));
    expect(existsSync('.')).toBe(true);
    expect(() => process.cwd()).toThrow('ENOENT');
  });

  it('stays in no folder of the user when there is no way back', () => {
    const isRoot = process.geteuid?.() === 0;
    const closed = join(root, 'closed');
    chmodSync(root, 0o755);
    mkdirSync(closed);
    process.chdir(closed);
    try {
      inFolder(root, () => {
        chmodSync(closed, 0);
        // To root nothing is closed.
        if (isRoot) process.seteuid?.(NOBODY);
      });
    } finally {
      if (isRoot) process.seteuid?.(0);
      chmodSync(closed, 0o700);
    }
    expect(process.cwd()).toBe('/');
  });
});
