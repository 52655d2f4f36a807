import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, rmdir, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { messageOf } from '../../src/base/errors.js';
import { AppendFile, type AppendFileOptions } from '../../src/store/append-file.js';
import { RotatedPair } from '../../src/store/rotated-pair.js';

let folder: string;
let path: string;
let errors: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bridge-file-'));
  path = join(folder, 'file.log');
  errors = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

type Options = Partial<AppendFileOptions> & { readonly file?: string; readonly maxBytes?: number };

const open = ({ file = path, maxBytes = 1000, ...options }: Options = {}) =>
  new AppendFile({
    parts: new RotatedPair(file, maxBytes / 2),
    keptBytes: 1024 * 1024,
    retryMs: 1_000,
    onError: (error) => errors.push(messageOf(error)),
    ...options,
  });
const read = (name: string) => readFile(name, 'utf8');

it('entries are written in order, to a file that only the owner may read', async () => {
  const file = open();
  void file.write('one\n');
  void file.write(Buffer.from('zwei ü\n'));
  void file.write('');
  await file.flush();
  expect(await read(path)).toBe('one\nzwei ü\n');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  void file.write('three\n');
  await file.close();
  expect(await read(path)).toBe('one\nzwei ü\nthree\n');
  expect(file.lostBytes).toBe(0);
});

it('an existing file is continued, and counts towards the bound', async () => {
  await writeFile(path, 'x'.repeat(490));
  const file = open();
  void file.write('0123456789');
  void file.write('next');
  await file.close();
  expect(await read(`${path}.1`)).toBe(`${'x'.repeat(490)}0123456789`);
  expect(await read(path)).toBe('next');
});

it('both files together keep the newest entries within the bound, and no entry is split', async () => {
  const file = open();
  for (let number = 0; number < 1000; number++) void file.write(`entry ${String(number).padStart(4, '0')}\n`);
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

it('each file begins with the header', async () => {
  let count = 0;
  const file = open({ header: () => `# ${++count}\n` });
  for (let number = 0; number < 30; number++) void file.write(`${'y'.repeat(49)}\n`);
  await file.close();
  expect(await read(path)).toMatch(/^# 4\n(y{49}\n)+$/);
  expect(await read(`${path}.1`)).toMatch(/^# 3\n(y{49}\n)+$/);
});

it('an entry that is larger than half the bound is counted as lost', async () => {
  const file = open();
  void file.write('z'.repeat(501));
  void file.write('kept');
  await file.close();
  void file.write('late');
  expect(await read(path)).toBe('kept');
  expect(file.lostBytes).toBe(505);
});

it('an entry that is larger than half the bound can get its own part', async () => {
  const file = open({ keepsLongEntries: true });
  void file.write('before');
  void file.write('z'.repeat(501));
  void file.write('after');
  await file.close();
  expect(await read(`${path}.1`)).toBe('z'.repeat(501));
  expect(await read(path)).toBe('after');
  expect(file.lostBytes).toBe(0);
});

it('of a text that is larger than a part the newest lines are written, with how much is left out', async () => {
  const file = open({ maxBytes: 2_000, cutsLongEntries: true });
  const before = `${'b'.repeat(99)}\n`;
  void file.write(before);
  const lines = Array.from({ length: 400 }, (_, number) => `line ${number}\n`);
  void file.write(lines.join(''));
  await file.close();
  const [note = '', ...kept] = (await read(path)).trimEnd().split('\n');
  const left = Number(/^\[(\d+) bytes left out: /.exec(note)?.[1]);
  expect(left).toBe(file.lostBytes);
  expect(`${kept.join('\n')}\n`).toBe(lines.join('').slice(left));
  expect(kept.at(-1)).toBe('line 399');
  const { size } = await stat(path);
  expect([size <= 1_000, size > 800]).toEqual([true, true]);
  expect(await read(`${path}.1`)).toBe(before);
});

it('a text without line ends is cut between characters, however small a part is', async () => {
  const file = open({ maxBytes: 22, cutsLongEntries: true });
  void file.write('€'.repeat(100));
  await file.close();
  expect(await read(path)).toBe('€€€');
});

it('a header is given how many bytes are in no part any more', async () => {
  const file = open({ header: (gone) => (gone === 0 ? '' : `gone ${gone}\n`) });
  const entries = Array.from(
    { length: 40 },
    (_, number) => `${String(number).padStart(4, '0')}${'y'.repeat(95)}\n`,
  );
  for (const entry of entries) void file.write(entry);
  await file.close();
  const gone = Number(/^gone (\d+)\n/.exec(await read(path))?.[1]);
  const sizes = (await stat(path)).size + (await stat(`${path}.1`)).size;
  expect(gone + sizes).toBe(file.endBytes);
  expect(await read(`${path}.1`)).toMatch(/^gone \d+\n\d{4}y/);
});

it('a fast source is asked to wait until most is written', async () => {
  const file = open({ maxBytes: 40_000_000 });
  const chunk = Buffer.alloc(64 * 1024, 'f');
  let written = 0;
  let wait: Promise<void> | undefined;
  while (wait === undefined) {
    wait = file.write(chunk);
    written += chunk.length;
  }
  expect(file.waitingBytes).toBe(written);
  await wait;
  expect(file.waitingBytes).toBeLessThanOrEqual(512 * 1024);
  expect(file.write('short')).toBeUndefined();
  await file.close();
  expect((await stat(path)).size).toBe(written + 5);
});

it('an entry after a release opens the file again', async () => {
  const file = open();
  void file.write('before ');
  await file.release();
  void file.write('after');
  await file.close();
  expect(await read(path)).toBe('before after');
});

it('a failing disk is reported, does not block the caller, and is retried', async () => {
  const missing = join(folder, 'missing', 'file.log');
  const file = open({ file: missing, maxBytes: 100_000_000 });
  void file.write('first\n');
  expect(await file.flush()).toBe('failing');
  expect(errors).toHaveLength(1);
  expect(errors[0]).toContain('ENOENT');
  for (let count = 0; count < 100; count++) expect(file.write(Buffer.alloc(64 * 1024))).toBeUndefined();
  expect(await file.flush()).toBe('failing');
  expect(errors).toHaveLength(1);
  // What was written while the disk failed is kept up to a megabyte, the newest.
  expect(file.lostBytes).toBeGreaterThan(5_000_000);
  await mkdir(join(folder, 'missing'));
  void file.write('last\n');
  await file.close();
  expect((await read(missing)).endsWith('last\n')).toBe(true);
  expect((await stat(missing)).size).toBeLessThanOrEqual(1024 * 1024 + 5);
});

it('a file whose beginning was lost to a failing disk still begins with a header', async () => {
  const missing = join(folder, 'missing', 'file.log');
  const file = open({ file: missing, maxBytes: 100_000_000, header: () => '# header\n' });
  void file.write('first\n');
  await file.flush();
  for (let count = 0; count < 100; count++) void file.write(`${'e'.repeat(65_535)}\n`);
  await mkdir(join(folder, 'missing'));
  await file.close();
  expect(await read(missing)).toMatch(/^# header\n(e{65535}\n){10,16}$/);
});

it('a disk that works again is written to without delay', async () => {
  const missing = join(folder, 'missing', 'file.log');
  const file = open({ file: missing, retryMs: 1_000_000 });
  void file.write('one ');
  expect(await file.flush()).toBe('failing');
  await mkdir(join(folder, 'missing'));
  expect(await file.flush()).toBe('written');
  void file.write('two');
  await expect.poll(() => read(missing), { interval: 5 }).toBe('one two');
  await file.close();
});

it('a full disk causes no error', async () => {
  const file = open({ file: '/dev/full' });
  void file.write('text');
  await file.flush();
  // ENOSPC on Linux; where the device does not exist, another error.
  expect(errors).not.toEqual([]);
  await file.close();
  expect(file.lostBytes).toBe(4);
});

it('a link instead of the file is not followed', async () => {
  const victim = join(folder, 'victim');
  await writeFile(victim, 'precious');
  await symlink(victim, path);
  const file = open();
  void file.write('text');
  await file.close();
  expect(await read(victim)).toBe('precious');
  expect(errors).not.toEqual([]);
});

it('a removed file is recreated', async () => {
  let removals = 0;
  const file = open({ onRemoved: () => removals++ });
  void file.write('a'.repeat(400));
  expect(await file.flush()).toBe('written');
  await unlink(path);
  void file.write('b'.repeat(90));
  expect(await file.flush()).toBe('removed');
  expect(await file.flush()).toBe('written');
  await unlink(path);
  expect(await file.flush()).toBe('removed');
  void file.write('c'.repeat(90));
  await file.close();
  expect(await read(path)).toBe('c'.repeat(90));
  expect([errors, removals]).toEqual([[], 2]);
});

it('a removed file begins with a header again, in its recreated folder', async () => {
  const inner = join(folder, 'inner');
  await mkdir(inner);
  path = join(inner, 'file.log');
  const file = open({ header: () => '# header\n', makeFolder: () => mkdir(inner) });
  void file.write('one\n');
  await file.flush();
  await rm(inner, { recursive: true });
  void file.write('two\n');
  expect(await file.flush()).toBe('removed');
  expect(await read(path)).toBe('# header\ntwo\n');
  await rm(inner, { recursive: true });
  expect(await file.flush()).toBe('removed');
  void file.write('three\n');
  await file.close();
  expect(await read(path)).toBe('# header\nthree\n');
});

it('an older part that cannot be replaced does not block entries forever', async () => {
  await mkdir(`${path}.1`);
  const file = open();
  for (let number = 0; number < 10; number++) void file.write(`${number}`.repeat(100));
  expect(await file.flush()).toBe('failing');
  expect(errors[0]).toContain('EISDIR');
  await rmdir(`${path}.1`);
  expect(await file.flush()).toBe('written');
  expect((await read(`${path}.1`)) + (await read(path))).toMatch(/^0{100}1{100}.*9{100}$/);
  await file.close();
});

it('queued entries are written when the folder becomes writable again', async () => {
  // Root may write everywhere, so the refusal is a directory in the file's place.
  await mkdir(path);
  const file = open();
  void file.write('kept\n');
  await file.flush();
  expect(errors).toHaveLength(1);
  await rmdir(path);
  await file.flush();
  expect(await read(path)).toBe('kept\n');
  await file.close();
  expect(file.lostBytes).toBe(0);
});

it('an entry that a full disk cut in half is whole once there is space again', async ({ skip }) => {
  const disk = join(folder, 'disk');
  await mkdir(disk);
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]);
  skip(status !== 0, 'a small disk needs a user who may mount one');
  try {
    path = join(disk, 'file.log');
    const entry = (letter: string) => letter.repeat(16 * 1024);
    const file = open({ maxBytes: 40_000_000, retryMs: 0 });
    void file.write(entry('f'));
    await file.flush();
    const filler = join(disk, 'filler');
    // Room for an entry and a half.
    await writeFile(filler, Buffer.alloc(1024 * 1024 - 16 * 1024 - 24 * 1024));
    void file.write(entry('g'));
    await file.flush();
    void file.write(entry('h'));
    await file.flush();
    expect(errors.join()).toContain('ENOSPC');
    await rm(filler);
    void file.write('end\n');
    await file.close();
    expect(await read(path)).toBe(`${entry('f')}${entry('g')}${entry('h')}end\n`);
    expect(file.lostBytes).toBe(0);
  } finally {
    execFileSync('umount', ['-l', disk]);
  }
});
