import { appendFile, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.js';
import type { FilePage } from '../../../src/files/read/read-page.js';
import { tempFolder } from '../../harness/temp-folder.js';
import { faultOf, filesAt, type TestFiles } from '../file-service.js';
import { rounds } from '../../harness/rounds.js';

let root: string;
let files: TestFiles['files'];

beforeEach(async () => {
  root = await tempFolder();
  ({ files } = filesAt(root));
});

async function put(name: string, content: string | Buffer): Promise<string> {
  await writeFile(join(root, name), content);
  return join(root, name);
}

async function pages(path: string, maxBytes: number): Promise<FilePage[]> {
  const all: FilePage[] = [];
  let cursor: string | undefined;
  do {
    const page = await files.readFile({ path, cursor, maxBytes });
    all.push(page);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return all;
}

test.each([
  ['', 0],
  ['\n', 1],
  ['a', 1],
  ['a\n', 1],
  ['a\nb', 2],
  ['a\n\n', 2],
  ['\r\n\r\n', 2],
])('%j has %i lines', async (text, lines) => {
  const path = await put('a.txt', text);
  const page = await files.readFile({ path, maxBytes: 1_000 });
  expect([page.content, page.lines]).toEqual([text, lines]);
  const range = await files.readRange({
    path,
    startLine: 1,
    endLine: 10,
    maxBytes: 1_000,
    signal: new AbortController().signal,
  });
  expect(range.totalLines).toBe(lines);
});

test('the header is the first lines, and the cursor continues after them', async () => {
  const path = await put('a.txt', 'a\nb\nc\nd\ne\n');
  const head = await files.readFile({ path, header: true, maxBytes: 1_000 });
  expect(head).toMatchObject({ content: 'a\nb\nc\n', lines: 5, truncated: true });
  const rest = await files.readFile({ path, cursor: head.cursor, maxBytes: 1_000 });
  expect(rest).toMatchObject({ content: 'd\ne\n', truncated: false, cursor: undefined });
});

test('every page ends with a whole line if one fits, and all pages together are the file', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme', maxLength: 40 }), { maxLength: 60 }),
      fc.constantFrom('\n', '\r\n'),
      fc.constantFrom('utf-8', 'utf-8-bom', 'utf-16le', 'utf-16be', 'latin-1'),
      fc.integer({ min: 16, max: 300 }),
      async (lines, end, encoding, maxBytes) => {
        const clean = (text: string) => {
          const shown = text.replace(/[\u0000-\u001f\u007f]|\p{Surrogate}|\ufeff/gu, '.');
          return encoding === 'latin-1' ? shown.replace(/[^ -~\u00a0-\u00ff]/gu, 'é') : shown;
        };
        const text = `é${lines.map(clean).join(end)}`;
        const bytes =
          encoding === 'latin-1'
            ? Buffer.from(text, 'latin1')
            : encoding.startsWith('utf-8')
              ? Buffer.from(encoding === 'utf-8' ? text : `\ufeff${text}`)
              : Buffer.from(`\ufeff${text}`, 'utf16le');
        const path = await put('a.txt', encoding === 'utf-16be' ? bytes.swap16() : bytes);
        const all = await pages(path, maxBytes);
        // Two letters of Latin-1 may happen to be one of UTF-8.
        fc.pre(all[0]?.encoding === encoding);
        expect(all.map((page) => page.content).join('')).toBe(text);
        for (const page of all) {
          expect(Buffer.byteLength(page.content)).toBeLessThanOrEqual(maxBytes);
          expect(page.truncated).toBe(page.cursor !== undefined);
        }
      },
    ),
    { numRuns: rounds(150) },
  );
});

describe('a file over the limit', () => {
  test('whose lines take too long to count has no number of lines', async () => {
    let nowMs = 0;
    // Each look at the clock takes a second.
    const clock = { ...systemClock, monotonicMs: () => (nowMs += 1_000) };
    ({ files } = filesAt(root, { clock }));
    const path = await put('big.txt', `${'x'.repeat(99)}\n`.repeat(30_000));
    expect((await files.readFile({ path, maxBytes: 300 })).lines).toBeNull();
  });

  test('of a terabyte of zeros is refused as binary immediately', async () => {
    const path = join(root, 'sparse');
    const file = await open(path, 'w');
    await file.truncate(2 ** 40);
    await file.close();
    const error = await faultOf(files.readFile({ path, maxBytes: 1_000 }));
    expect(error.code).toBe('BINARY_FILE');
    expect(error.message).toBe(`Cannot read binary file: ${path}.`);
  });
});

test('a cursor of another version of the file, or an invalid one, is refused', async () => {
  const path = await put('a.txt', 'a\nb\nc\nd\n');
  const { cursor } = await files.readFile({ path, header: true, maxBytes: 1_000 });
  await appendFile(path, 'e\n');
  expect((await faultOf(files.readFile({ path, cursor, maxBytes: 1_000 }))).code).toBe('FILE_CHANGED');
  for (const odd of ['', 'x', '1:2', '-1:2:abc', '1:2:']) {
    const error = await faultOf(files.readFile({ path, cursor: odd, maxBytes: 1_000 }));
    expect(error.code, odd).toBe('INVALID_ARGUMENTS');
  }
});

test('what is left of a file with bytes that are not valid is counted in its own bytes', async () => {
  const lines = Buffer.concat([Buffer.from('\u00e4'.repeat(40)), Buffer.from([0xff, 0x0a])]);
  const path = await put('odd.txt', Buffer.concat(Array.from({ length: 100 }, () => lines)));
  const notes = (await pages(path, 1_000)).map(({ note = '' }) => /^-?\d+/.exec(note)?.[0]);
  const left = notes.map((_, page) => `${8_200 - 82 * 11 * (page + 1)}`);
  expect(notes).toEqual([...left.slice(0, -1), undefined]);
});

test('a page with bytes that are not valid in the encoding that was taken says so', async () => {
  const legacy = Buffer.concat([
    Buffer.from('x'.repeat(99).concat('\n').repeat(20_000)),
    Buffer.from('caf\u00e9\n', 'latin1'),
  ]);
  const path = await put('legacy.txt', legacy);
  const first = await files.readFile({ path, maxBytes: 10_000 });
  expect(first).toMatchObject({ encoding: 'utf-8' });
  expect(first.note).not.toContain('U+FFFD');
  const signal = new AbortController().signal;
  const range = { path, startLine: 20_000, maxBytes: 10_000, signal };
  expect(await files.readRange({ ...range, endLine: 20_000 })).not.toHaveProperty('note');
  expect((await files.readRange({ ...range, endLine: 20_001 })).note).toMatch(/not valid utf-8, .* U\+FFFD/);
  for (const bytes of [
    Buffer.from('\u00e4\u00e4\u00e4\u00e4\u00e4 caf\u00e9', 'utf8').subarray(0, -1),
    Buffer.from([0xff, 0xfe, 0x61, 0x00, 0x00, 0xd8]),
    Buffer.from([0xff, 0xfe, 0x61, 0x00, 0x62]),
    Buffer.from([0xfe, 0xff, 0x00, 0x0a, 0x00]),
  ]) {
    const odd = await put('odd.txt', bytes);
    const { content, note } = await files.readFile({ path: odd, maxBytes: 10_000 });
    expect([content, note]).toEqual([expect.stringContaining('\ufffd'), expect.stringContaining('U+FFFD')]);
  }
  const real = await put('real.txt', Buffer.from('a \ufffd that is really there\n'));
  expect((await files.readFile({ path: real, maxBytes: 10_000 })).note).toBeUndefined();
});
