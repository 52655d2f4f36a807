import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AppendFile } from '../../src/store/append-file.js';
import { goneNote } from '../../src/store/gone-note.js';
import { RotatedPair } from '../../src/store/rotated-pair.js';
import { LogStream } from '../../src/tasks/log-stream.js';

const PART_BYTES = 2_000;
let folder: string;
let path: string;
let writer: AppendFile;
let stream: LogStream;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stream-'));
  path = join(folder, 'task.log');
  writer = new AppendFile({
    parts: new RotatedPair(path, PART_BYTES),
    keptBytes: 0,
    cutsLongEntries: true,
    header: goneNote,
    onError: (error) => {
      throw error;
    },
  });
  stream = new LogStream(path);
});
afterEach(async () => {
  await stream.close();
  await writer.close();
  await rm(folder, { recursive: true, force: true });
});

/** Writes an entry of one line, whole, before it resolves. */
async function logs(name: string, bytes = 1_500): Promise<string> {
  const entry = `${name} ${'x'.repeat(bytes)}\n`;
  void writer.write(entry);
  await writer.flush();
  return entry;
}

async function readAll(): Promise<string> {
  let all = '';
  for (;;) {
    const text = await stream.read(700);
    if (text === '') return all;
    all += text;
  }
}

it('a log that does not exist yet has nothing new', async () => {
  expect(await readAll()).toBe('');
  const first = await logs('é☃😀');
  expect(await readAll()).toBe(first);
  expect(await readAll()).toBe('');
});

it('each line comes once, over rotations, and nothing is said of those that were read', async () => {
  let written = '';
  let read = '';
  for (let line = 0; line < 10; line++) {
    written += (await logs(`line ${line}`, 300)) + (await logs(`long ${line}`));
    read += await readAll();
  }
  expect(await readFile(path, 'utf8')).toMatch(/^\[The log was rotated/);
  expect(read).toBe(written);
});

it('the end of a file that has rotated away is read all the same', async () => {
  const first = await logs('first');
  expect(await readAll()).toBe(first);
  const more = [await logs('end of the first', 100), await logs('second'), await logs('third')];
  expect(await readAll()).toBe(more.join(''));
});

it('says how much rotated away unread, in its place', async () => {
  const first = await logs('first');
  expect(await readAll()).toBe(first);
  const lost = [await logs('second'), await logs('third')].join('');
  const rest = [await logs('fourth'), await logs('fifth')].join('');
  const all = await readAll();
  expect(all.endsWith(rest)).toBe(true);
  const [, missing = ''] = /^\[The log was rotated: (\d+) bytes are missing here\]\n/.exec(all) ?? [];
  // With the lines of the log itself that say what is gone.
  expect(Number(missing)).toBeGreaterThanOrEqual(lost.length);
  expect(Number(missing)).toBeLessThan(lost.length + 100);
  expect(await readAll()).toBe('');
});

it('a log whose beginning is gone says so once', async () => {
  for (const name of ['first', 'second', 'third']) await logs(name);
  expect(await readAll()).toMatch(
    /^\[The log was rotated: 15\d\d bytes are missing here\]\nsecond x+\nthird x+\n$/,
  );
});

it('an entry that is cut says it itself, and nothing else is said', async () => {
  const first = await logs('first');
  expect(await readAll()).toBe(first);
  await logs('far too long', 3 * PART_BYTES);
  const last = await logs('last');
  const read = await readAll();
  expect(read).toMatch(/^\[\d+ bytes left out: more came at once than a log file holds\]\nx+\nlast x+\n$/);
  expect(read.endsWith(last)).toBe(true);
});
