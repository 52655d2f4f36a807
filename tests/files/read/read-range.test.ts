import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.js';
import type { FilesystemService } from '../../../src/files/filesystem-service.js';
import { tempFolder } from '../../harness/temp-folder.js';
import { faultOf, filesAt } from '../file-service.js';
import { rounds } from '../../harness/rounds.js';

let root: string;
let files: FilesystemService;
const { signal } = new AbortController();

beforeEach(async () => {
  root = await tempFolder();
  ({ files } = filesAt(root));
});

async function put(name: string, content: string | Buffer): Promise<string> {
  await writeFile(join(root, name), content);
  return join(root, name);
}

test('lines are numbered from 1, inclusive, and unchanged except for the last line end', async () => {
  const path = await put('a.txt', 'one\r\ntwo\r\nthree\nfour');
  const read = (startLine: number, endLine: number) =>
    files.readRange({ path, startLine, endLine, maxBytes: 1_000, signal });
  expect(await read(1, 2)).toMatchObject({ content: 'one\r\ntwo', endLine: 2, totalLines: 4 });
  expect(await read(2, 900)).toMatchObject({ content: 'two\r\nthree\nfour', endLine: 4, truncated: false });
  const note = 'The file has 4 lines: none at 5 or after it.';
  expect(await read(5, 9)).toMatchObject({ content: '', startLine: 5, endLine: 4, note });
  expect(await read(4, 9)).not.toHaveProperty('note');
  expect((await faultOf(read(3, 2))).message).toBe('end_line 2 is before start_line 3.');
});

test('ranges equal those of a simple model, whatever was read before', async () => {
  const line = fc.oneof(
    fc.constant(''),
    fc.integer({ min: 1, max: 60 }).map((length) => 'x'.repeat(length)),
    fc.integer({ min: 1_000, max: 3_000 }).map((length) => 'ü'.repeat(length / 2)),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 400 }),
      fc.boolean(),
      fc.boolean(),
      fc.array(fc.tuple(fc.nat(), fc.nat({ max: 30 })), { minLength: 1, maxLength: 8 }),
      async (pattern, repeats, isWide, endsWithFeed, asked) => {
        const lines = Array.from({ length: repeats }, (_, at) =>
          pattern.map((text) => `${at} ${text}`),
        ).flat();
        const text = lines.join('\n') + (endsWithFeed ? '\n' : '');
        const path = await put('a.txt', isWide ? Buffer.from(`\ufeff${text}`, 'utf16le') : Buffer.from(text));
        for (const [place, length] of asked) {
          const startLine = (place % lines.length) + 1;
          const endLine = startLine + length;
          const range = await files.readRange({ path, startLine, endLine, maxBytes: 1_000_000, signal });
          expect(range.content).toBe(lines.slice(startLine - 1, endLine).join('\n'));
          expect(range.totalLines).toBe(lines.length);
        }
      },
    ),
    { numRuns: rounds(60) },
  );
});

test('a range beyond the budget ends with a line and says so', async () => {
  const path = await put('a.txt', 'abcdefghi\n'.repeat(100));
  const range = await files.readRange({ path, startLine: 11, endLine: 100, maxBytes: 305, signal });
  expect(range).toMatchObject({ startLine: 11, endLine: 40, truncated: true, totalLines: 100 });
  expect(range.content).toBe('abcdefghi\n'.repeat(30).slice(0, -1));
});

test('a very long line is cut with a mark between characters, the others are whole', async () => {
  const path = await put('a.txt', `first\n${'ü'.repeat(500_000)}\nlast\n`);
  const range = await files.readRange({ path, startLine: 1, endLine: 3, maxBytes: 16_384, signal });
  expect(range.content).toBe(`first\n${'ü'.repeat(2_048)}… [line cut: 995905 more bytes]\nlast`);
});

test('the lines of a file with far more after them are returned without a total', async () => {
  const path = await put('a.txt', 'short\n'.repeat(1_000));
  const file = await open(path, 'a');
  const block = Buffer.alloc(1_048_576, 'a line of a log that goes on\n');
  for (let written = 0; written < 24; written++) await file.write(block);
  await file.close();
  const first = await files.readRange({ path, startLine: 990, endLine: 1_000, maxBytes: 1_000, signal });
  expect(first).toMatchObject({ endLine: 1_000, totalLines: null, truncated: false });
  const last = await files.readRange({ path, startLine: 800_000, endLine: 800_000, maxBytes: 1_000, signal });
  expect(last).toMatchObject({ content: 'a line of a log that goes on' });
  expect(last.totalLines).toBeGreaterThan(800_000);
});

test('binary content is refused, at the beginning and in the range', async () => {
  const early = await put('early', Buffer.concat([Buffer.from('a\0b\n')]));
  const late = await put(
    'late',
    Buffer.concat([Buffer.from('text\n'.repeat(20_000)), Buffer.from('a\0b\n')]),
  );
  const read = (path: string, line: number) =>
    files.readRange({ path, startLine: line, endLine: line, maxBytes: 1_000, signal });
  expect((await faultOf(read(early, 1))).code).toBe('BINARY_FILE');
  expect((await faultOf(read(late, 20_001))).code).toBe('BINARY_FILE');
  expect((await read(late, 20_000)).content).toBe('text');
});

test('a scan ends when the call is cancelled or takes too long', async () => {
  const path = await put('a.txt', 'abcdefg\n'.repeat(1_000_000));
  const query = { path, startLine: 999_999, endLine: 999_999, maxBytes: 1_000 };
  await expect(files.readRange({ ...query, signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow(
    'gone',
  );
  let nowMs = 0;
  // Each look at the clock takes three seconds.
  const { files: slow } = filesAt(root, { clock: { ...systemClock, monotonicMs: () => (nowMs += 3_000) } });
  expect((await faultOf(slow.readRange({ ...query, signal }))).message).toMatch(
    /^Line 999999 of '.*' was not reached within 20 s; \d+ lines were scanned\.$/,
  );
});
