import { execFileSync, spawnSync } from 'node:child_process';
import {
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  rmdir,
  stat,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { messageOf } from '../../src/base/errors.js';
import { nextEvent } from '../../src/base/event.js';
import { RotatingFile, type RotatingFileOptions } from '../../src/store/rotating-file.js';

let folder: string;
let path: string;
let errors: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bridge-file-'));
  path = join(folder, 'file.log');
  errors = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (options: Partial<RotatingFileOptions> = {}) =>
  new RotatingFile({ path, maxBytes: 1000, onError: (error) => errors.push(messageOf(error)), ...options });
const read = (name: string) => readFile(name, 'utf8');
const exists = (name: string) =>
  lstat(name).then(
    () => true,
    () => false,
  );

it('entries are in the file in their order, and nobody else may read it', async () => {
  const file = open();
  file.write('one\n');
  file.write(Buffer.from('zwei ü\n'));
  file.write('');
  await file.flush();
  expect(await read(path)).toBe('one\nzwei ü\n');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  file.write('three\n');
  await file.close();
  expect(await read(path)).toBe('one\nzwei ü\nthree\n');
  expect(file.lostBytes).toBe(0);
});

it('an existing file is continued, and counts', async () => {
  await writeFile(path, 'x'.repeat(490));
  const file = open();
  file.write('0123456789');
  file.write('next');
  await file.close();
  expect(await read(`${path}.1`)).toBe(`${'x'.repeat(490)}0123456789`);
  expect(await read(path)).toBe('next');
});

it('both files together keep the newest within the bound, and no entry is divided', async () => {
  const file = open();
  for (let number = 0; number < 1000; number++) file.write(`entry ${String(number).padStart(4, '0')}\n`);
  await file.close();
  const kept = (await read(`${path}.1`)) + (await read(path));
  expect(kept.length).toBeLessThanOrEqual(1000);
  expect(kept.length).toBeGreaterThan(500);
  const numbers = kept
    .trimEnd()
    .split('\n')
    .map((line) => Number(/^entry (\d{4})$/.exec(line)?.[1]));
  expect(numbers).toEqual(
    Array.from({ length: numbers.length }, (_, index) => 1000 - numbers.length + index),
  );
});

it('every file begins with the header', async () => {
  let count = 0;
  const file = open({ header: () => `# ${++count}\n` });
  for (let number = 0; number < 30; number++) file.write(`${'y'.repeat(49)}\n`);
  await file.close();
  expect(await read(path)).toMatch(/^# 4\n(y{49}\n)+$/);
  expect(await read(`${path}.1`)).toMatch(/^# 3\n(y{49}\n)+$/);
});

it('an entry that is larger than half the bound is counted as lost', async () => {
  const file = open();
  file.write('z'.repeat(501));
  file.write('kept');
  await file.close();
  file.write('late');
  expect(await read(path)).toBe('kept');
  expect(file.lostBytes).toBe(505);
});

it('a fast source is told to pause, and to go on when most is written', async () => {
  const file = open({ maxBytes: 40_000_000 });
  const chunk = Buffer.alloc(64 * 1024, 'f');
  let written = 0;
  while (!file.isFull) {
    file.write(chunk);
    written += chunk.length;
  }
  expect(file.pendingBytes).toBe(written);
  await nextEvent(file.onDrain);
  expect(file.isFull).toBe(false);
  expect(file.pendingBytes).toBeLessThanOrEqual(1024 * 1024);
  await file.close();
  expect((await stat(path)).size).toBe(written);
});

it('a disk that fails is told, holds nobody up, and is tried again', async () => {
  const missing = join(folder, 'missing', 'file.log');
  const file = open({ path: missing, maxBytes: 100_000_000 });
  file.write('first\n');
  await file.flush();
  expect(errors).toHaveLength(1);
  expect(errors[0]).toContain('ENOENT');
  for (let count = 0; count < 100; count++) file.write(Buffer.alloc(64 * 1024));
  expect(file.pendingBytes).toBe(0);
  expect(file.isFull).toBe(false);
  // What was written while the disk failed is kept up to a megabyte, the newest.
  expect(file.lostBytes).toBeGreaterThan(5_000_000);
  await mkdir(join(folder, 'missing'));
  file.write('last\n');
  await file.close();
  expect((await read(missing)).endsWith('last\n')).toBe(true);
  expect((await stat(missing)).size).toBeLessThanOrEqual(1024 * 1024 + 5);
});

it('a file whose beginning was lost to a failing disk begins with a header all the same', async () => {
  const missing = join(folder, 'missing', 'file.log');
  const file = open({ path: missing, maxBytes: 100_000_000, header: () => '# header\n' });
  file.write('first\n');
  await file.flush();
  for (let count = 0; count < 100; count++) file.write(`${'e'.repeat(65_535)}\n`);
  await mkdir(join(folder, 'missing'));
  await file.close();
  expect(await read(missing)).toMatch(/^# header\n(e{65535}\n){10,16}$/);
});

it('a full disk ends nothing', async () => {
  const file = open({ path: '/dev/full' });
  file.write('text');
  await file.flush();
  // ENOSPC on Linux; where the device does not exist, another fault.
  expect(errors).not.toEqual([]);
  await file.close();
  expect(file.lostBytes).toBe(4);
  expect(file.errorCount).toBeGreaterThan(0);
});

it('a link in the file’s place is not followed', async () => {
  const victim = join(folder, 'victim');
  await writeFile(victim, 'precious');
  await symlink(victim, path);
  const file = open();
  file.write('text');
  await file.close();
  expect(await read(victim)).toBe('precious');
  expect(errors).not.toEqual([]);
});

it('a file that somebody removes is made again at the next rotation', async () => {
  const file = open();
  file.write('a'.repeat(400));
  await file.flush();
  await unlink(path);
  file.write('b'.repeat(400));
  await file.close();
  expect(await read(path)).toBe('b'.repeat(400));
  expect(await exists(`${path}.1`)).toBe(false);
  expect(errors).toEqual([]);
});

it('a folder that becomes writable again takes what was kept', async () => {
  // Root may write everywhere, so the refusal is a directory in the file's place.
  await mkdir(path);
  const file = open();
  file.write('kept\n');
  await file.flush();
  expect(errors).toHaveLength(1);
  await rmdir(path);
  await file.flush();
  expect(await read(path)).toBe('kept\n');
  await file.close();
  expect(file.lostBytes).toBe(0);
});

it('an entry that a full disk took half of is whole when there is room again', async ({ skip }) => {
  const disk = join(folder, 'disk');
  await mkdir(disk);
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]);
  skip(status !== 0, 'a small disk needs a user who may mount one');
  try {
    path = join(disk, 'file.log');
    const entry = (letter: string) => letter.repeat(16 * 1024);
    const file = open({ maxBytes: 40_000_000 });
    file.write(entry('f'));
    await file.flush();
    const filler = join(disk, 'filler');
    // Room for an entry and a half.
    await writeFile(filler, Buffer.alloc(1024 * 1024 - 16 * 1024 - 24 * 1024));
    file.write(entry('g'));
    await file.flush();
    file.write(entry('h'));
    await file.flush();
    expect(errors.join()).toContain('ENOSPC');
    await rm(filler);
    file.write('end\n');
    await file.close();
    expect(await read(path)).toBe(`${entry('f')}${entry('g')}${entry('h')}end\n`);
    expect(file.lostBytes).toBe(0);
  } finally {
    execFileSync('umount', ['-l', disk]);
  }
});
