import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readRegularFile } from '../../../../src/base/files/regular-file.js';

const LIMIT_BYTES = 200_000;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'regular-'));
});
afterEach(() => rm(folder, { recursive: true }));

it.each([0, 1, 4_095, 4_096, 65_535, 65_536, 65_537, LIMIT_BYTES])(
  'a file of %i bytes is read whole',
  async (size) => {
    const bytes = Buffer.alloc(size, 'abcdefg');
    await writeFile(join(folder, 'file'), bytes);
    expect(await readRegularFile(join(folder, 'file'), LIMIT_BYTES)).toEqual({ state: 'ok', bytes });
  },
);

it.each([
  { size: LIMIT_BYTES + 1, limit: LIMIT_BYTES },
  { size: 11, limit: 10 },
  { size: 1, limit: 0 },
])('a file of $size bytes is refused where $limit are allowed', async ({ size, limit }) => {
  await writeFile(join(folder, 'file'), Buffer.alloc(size));
  expect(await readRegularFile(join(folder, 'file'), limit)).toEqual({
    state: 'refused',
    why: `it is larger than ${limit} bytes`,
  });
});

it.runIf(process.platform === 'linux')(
  'a file that states no size is read to its end, or refused',
  async () => {
    const read = await readRegularFile('/proc/self/status', LIMIT_BYTES);
    expect(read.state === 'ok' && read.bytes.toString()).toMatch(/^Name:/);
    expect(await readRegularFile('/proc/self/status', 10)).toMatchObject({ state: 'refused' });
  },
);

it('what is not a regular file is refused without waiting, and what does not exist is missing', async () => {
  execFileSync('mkfifo', [join(folder, 'fifo')]);
  expect(await readRegularFile(join(folder, 'fifo'), LIMIT_BYTES)).toEqual({
    state: 'refused',
    why: 'it is not a regular file',
  });
  expect(await readRegularFile(folder, LIMIT_BYTES)).toEqual({ state: 'refused', why: 'it is a folder' });
  for (const path of ['none', 'fifo/below'])
    expect(await readRegularFile(join(folder, path), LIMIT_BYTES)).toEqual({ state: 'missing' });
});
