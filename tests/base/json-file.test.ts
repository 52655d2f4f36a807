import { execFileSync } from 'node:child_process';
import { link, mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { readJsonFile, writeJsonFileAtomically } from '../../src/base/files/json-file.js';
import { tempFolder } from '../harness/temp-folder.js';

const schema = z.object({ name: z.string() });
let folder: string;
beforeEach(async () => {
  folder = await tempFolder();
});

describe('readJsonFile', () => {
  test.each([
    ['', 'it is empty'],
    ['{"name":', 'it is not JSON: '],
    ['{"name":1}', 'name: Invalid input'],
  ])('says why %j is unusable', async (text, why) => {
    const path = join(folder, 'a.json');
    await writeFile(path, text);
    const read = await readJsonFile(path, schema);
    expect(read.state === 'corrupt' ? read.why : read.state).toContain(why);
  });

  test('refuses a pipe, a device and a folder without reading from them', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    await symlink('/dev/zero', join(folder, 'zero'));
    expect(await readJsonFile(pipe, schema)).toEqual({ state: 'corrupt', why: 'it is not a regular file' });
    expect(await readJsonFile(join(folder, 'zero'), schema)).toEqual({
      state: 'corrupt',
      why: 'it is not a regular file',
    });
    expect(await readJsonFile(folder, schema)).toEqual({ state: 'corrupt', why: 'it is a folder' });
  });
});

describe('writeJsonFileAtomically', () => {
  test('gives the file the requested mode, also when it replaces one', async () => {
    const path = join(folder, 'a.json');
    await writeFile(path, '{}', { mode: 0o644 });
    await writeJsonFileAtomically(path, { name: 'a' });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await writeJsonFileAtomically(path, { name: 'a' }, { mode: 0o666, durable: false });
    expect((await stat(path)).mode & 0o777).toBe(0o666);
    expect(await readdir(folder)).toEqual(['a.json']);
  });

  test('replaces a link instead of writing through it, hard or symbolic', async () => {
    await writeFile(join(folder, 'victim'), 'untouched');
    await symlink(join(folder, 'victim'), join(folder, 'soft'));
    await link(join(folder, 'victim'), join(folder, 'hard'));
    await writeJsonFileAtomically(join(folder, 'soft'), 1);
    await writeJsonFileAtomically(join(folder, 'hard'), 2);
    expect(await readFile(join(folder, 'victim'), 'utf8')).toBe('untouched');
  });

  test('leaves no temp file when it fails', async () => {
    const path = join(folder, 'a.json');
    await mkdir(path);
    await expect(writeJsonFileAtomically(path, 1)).rejects.toMatchObject({ code: 'STATE_UNUSABLE' });
    expect(await readdir(folder)).toEqual(['a.json']);
    await expect(writeJsonFileAtomically(join(folder, 'none', 'a.json'), 1)).rejects.toThrow(
      `Cannot write ${folder}/none/a.json: ENOENT`,
    );
  });

  test('readers see only whole files, however many processes write', async () => {
    const path = join(folder, 'a.json');
    await writeJsonFileAtomically(path, { name: 'x' });
    const writes = Array.from({ length: 40 }, (_, index) =>
      writeJsonFileAtomically(path, { name: 'x'.repeat(index * 1000) }, { durable: false }),
    );
    const reads = Array.from({ length: 100 }, () => readJsonFile(path, schema));
    expect((await Promise.all(reads)).filter((read) => read.state !== 'ok')).toEqual([]);
    await Promise.all(writes);
    expect(await readdir(folder)).toEqual(['a.json']);
  });
});
