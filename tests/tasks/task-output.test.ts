import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, open, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { AppendFile } from '../../src/store/append-file.js';
import { RotatedPair } from '../../src/store/rotated-pair.js';
import { goneNote } from '../../src/store/gone-note.js';
import { readLogPage } from '../../src/tasks/task-output.js';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'output-'));
  path = join(folder, 'task.log');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function fail(error: unknown): never {
  throw error;
}

async function readAll(maxBytes: number, from = '0:0'): Promise<string> {
  let text = '';
  for (let cursor = from; ;) {
    const page = await readLogPage(path, cursor, maxBytes);
    expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(maxBytes);
    text += page.text;
    if (!page.more) return text;
    expect(page.text).not.toBe('');
    cursor = page.cursor;
  }
}

it('a missing or empty log is an empty page', async () => {
  expect(await readLogPage(path, undefined, 100)).toEqual({
    text: '',
    cursor: '0:0',
    more: false,
    totalBytes: 0,
    isMissing: true,
  });
  await writeFile(path, '');
  const empty = await readLogPage(path, undefined, 100);
  expect(empty).toMatchObject({ text: '', more: false, totalBytes: 0 });
  expect(empty).not.toHaveProperty('isMissing');
});

it.each([4, 5, 7, 64, 10_000])(
  'pages of %i bytes join to the whole, also inside of characters',
  async (maxBytes) => {
    const text = 'a é ☃ 😀 日本語\n'.repeat(30);
    await writeFile(path, text);
    expect(await readAll(maxBytes)).toBe(text);
    expect(await readAll(maxBytes, '0')).toBe(text);
  },
);

it('without a cursor the newest part is given, from a whole character on', async () => {
  await writeFile(path, `${'x'.repeat(100)}😀end`);
  const page = await readLogPage(path, undefined, 5);
  expect(page).toMatchObject({ text: 'end', more: false, totalBytes: 107 });
  await appendFile(path, ' and more');
  expect(await readLogPage(path, page.cursor, 100)).toMatchObject({ text: ' and more', more: false });
});

it('without a cursor the page begins at a line', async () => {
  await writeFile(path, 'one\ntwo\nthree\n');
  for (const [maxBytes, text] of [
    [6, 'three\n'],
    [8, 'three\n'],
    [10, 'two\nthree\n'],
    [13, 'two\nthree\n'],
    [14, 'one\ntwo\nthree\n'],
    [3, 'ee\n'],
  ] as const)
    expect(await readLogPage(path, undefined, maxBytes)).toMatchObject({ text, more: false });
});

it.each([20, 64, 90, 10_000])(
  'of a log that rotated, pages of %i bytes say once how much is gone, and truly',
  async (maxBytes) => {
    await writeFile(`${path}.1`, `${goneNote(99)}older\n`);
    await writeFile(path, `${goneNote(1_000)}newer\n`);
    const note = maxBytes < goneNote(1_000).length ? '' : goneNote(1_000);
    for (const from of ['0', '0:0']) expect(await readAll(maxBytes, from)).toBe(`${note}older\nnewer\n`);
    const newest = (await readLogPage(path, undefined, maxBytes)).text;
    expect(`${note}older\nnewer\n`).toContain(newest);
    expect(newest.endsWith('newer\n')).toBe(true);
    const { totalBytes } = await readLogPage(path, undefined, maxBytes);
    const whole = { text: `${goneNote(1_000)}older\nnewer\n`, more: false };
    expect(await readLogPage(path, undefined, totalBytes)).toMatchObject(whole);
    // One that stands alone says what it knows.
    await rm(`${path}.1`);
    expect(await readAll(maxBytes)).toBe(`${goneNote(1_000)}newer\n`);
  },
);

it('a character that is only half written is not shown before it is whole', async () => {
  const snowman = Buffer.from('☃');
  await writeFile(path, Buffer.concat([Buffer.from('ab'), snowman.subarray(0, 2)]));
  const page = await readLogPage(path, '0:0', 100);
  expect(page).toMatchObject({ text: 'ab', more: false });
  await appendFile(path, snowman.subarray(2));
  expect(await readLogPage(path, page.cursor, 100)).toMatchObject({ text: '☃', more: false });
});

it('a cursor stays right when the log rotates, and goes on with the oldest part when its own is gone', async () => {
  await writeFile(path, 'first ');
  const { cursor } = await readLogPage(path, '0:0', 100);
  await appendFile(path, 'second ');
  await rename(path, `${path}.1`);
  await writeFile(path, 'third ');
  expect(await readLogPage(path, cursor, 100)).toMatchObject({ text: 'second third ', totalBytes: 19 });
  expect(await readAll(4)).toBe('first second third ');
  await rename(path, `${path}.1`);
  await writeFile(path, 'fourth');
  expect(await readLogPage(path, cursor, 100)).toMatchObject({ text: 'third fourth' });
});

it('a cursor whose file is gone says how much is missing', async () => {
  await writeFile(path, 'first ');
  const { cursor } = await readLogPage(path, '0:0', 100);
  // Its inode is not given to the third file, which may be made within the same tick of the file system's clock.
  const first = await open(path);
  onTestFinished(() => first.close());
  await rename(path, `${path}.1`);
  await writeFile(path, 'second ');
  await rename(path, `${path}.1`);
  await writeFile(path, `${goneNote(6)}third`);
  expect((await readLogPage(path, cursor, 200)).text).toBe(`${goneNote(6)}second third`);
});

it.each(['x', '1', '1:', ':1', '-1:0', '1:1:1', '0x1:0'])('no cursor: %s', async (cursor) => {
  await expect(readLogPage(path, cursor, 100)).rejects.toThrow('Invalid cursor.');
});

it('a link or a FIFO in the place of the log is never followed or waited for', async () => {
  await writeFile(join(folder, 'secret'), 'secret');
  await symlink(join(folder, 'secret'), path);
  execFileSync('mkfifo', [`${path}.1`]);
  expect((await readLogPage(path, undefined, 100)).text).toBe('');
});

it('a socket in the place of the log, or a file in the place of its folder, is no log', async () => {
  const server = createServer().listen(path);
  await once(server, 'listening');
  expect(await readLogPage(path, undefined, 100)).toMatchObject({ text: '', isMissing: true });
  server.close();
  await writeFile(join(folder, 'file'), '');
  expect(await readLogPage(join(folder, 'file', 'task.log'), '0', 100)).toMatchObject({ isMissing: true });
});

it('a log that cannot be opened is named with the error of the system', async () => {
  const long = join(folder, 'x'.repeat(300));
  await expect(readLogPage(long, undefined, 100)).rejects.toMatchObject({
    code: 'NOT_READABLE',
    message: `The log ${long} cannot be opened (ENAMETOOLONG).`,
  });
});

it('no line comes twice and none in the wrong order beside a writer that rotates', async () => {
  const writer = new AppendFile({ parts: new RotatedPair(path, 2 * 1024), keptBytes: 0, onError: fail });
  let line = 0;
  const writes = async (): Promise<void> => {
    for (; line < 20_000; line++) {
      void writer.write(`line ${line}\n`);
      if (line % 50 === 0) await writer.flush();
    }
    await writer.close();
  };
  const written = writes();
  let last = -1;
  let cursor = '0:0';
  let rest = '';
  while (line < 20_000) {
    const page = await readLogPage(path, cursor, 1024);
    // A part that was dropped before it was read leaves half a line.
    if (!page.cursor.startsWith(cursor.split(':')[0] ?? '')) rest = '';
    cursor = page.cursor;
    const lines = (rest + page.text).split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) {
      const number = Number(/^line (\d+)$/.exec(text)?.[1] ?? NaN);
      if (Number.isNaN(number)) continue;
      expect(number).toBeGreaterThan(last);
      last = number;
    }
  }
  await written;
});
