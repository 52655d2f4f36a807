import { mkdir, readFile, readdir, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.js';
import type { BridgeError } from '../../../src/base/errors.js';
import { Journal } from '../../../src/store/journal.js';
import { readJournal, type JournalPage } from '../../../src/store/journal-reader.js';
import { tempFolder } from '../../harness/temp-folder.js';

const LARGE_BYTES = 64 * 1024 * 1024;
const clock = { ...systemClock, now: () => Date.UTC(2025, 0, 2) };
let folder: string;
let path: string;
let faults: BridgeError[];
beforeEach(async () => {
  folder = await tempFolder();
  path = join(folder, 'journal.ndjson');
  faults = [];
});

const open = (maxBytes = LARGE_BYTES): Promise<Journal> =>
  Journal.open(path, { maxBytes, clock, onError: (error) => faults.push(error) });

const read = (afterSeq = 0, maxBytes = LARGE_BYTES): Promise<JournalPage> =>
  readJournal(path, { afterSeq, maxBytes });

async function write(count: number, maxBytes?: number, size = 0): Promise<void> {
  const journal = await open(maxBytes);
  for (let index = 0; index < count; index++) journal.append('event', { text: 'x'.repeat(size) });
  await journal.close();
}

describe('Journal', () => {
  test('numbers events from 1, one per line, in a file that only the owner may read', async () => {
    const journal = await open();
    expect([
      journal.append('started', { pid: 7 }),
      journal.append('said', { text: 'a\nb', seq: 99, at: 0 }),
    ]).toEqual([1, 2]);
    await journal.flush();
    expect(await readFile(path, 'utf8')).toBe(
      '{"seq":1,"at":"2025-01-02T00:00:00.000Z","type":"started","pid":7}\n' +
        '{"seq":2,"at":"2025-01-02T00:00:00.000Z","type":"said","text":"a\\nb"}\n',
    );
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await journal.close();
    await journal.close();
    expect(faults).toEqual([]);
  });

  test('a journal that was cut at any byte is continued without a gap', async () => {
    await write(3);
    const whole = await readFile(path);
    for (let length = 0; length <= whole.length; length += 7) {
      await writeFile(path, whole);
      await truncate(path, length);
      const journal = await open();
      const kept = whole.subarray(0, length).toString().split('\n').length - 1;
      expect(journal.append('next')).toBe(kept + 1);
      await journal.close();
      expect((await read()).entries).toHaveLength(kept + 1);
    }
  });

  test('cuts an event that is longer than 64 KB and marks it', async () => {
    const journal = await open();
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    journal.append('text', { text: 'é'.repeat(1_000_000), small: 1 });
    journal.append('list', { list: Array.from({ length: 50_000 }, (_, index) => index) });
    journal.append('quotes', { list: Array.from({ length: 50_000 }, () => '"\u0000') });
    journal.append('circle', circle);
    await journal.close();
    const lines = (await readFile(path, 'utf8')).split('\n');
    expect(lines.filter((line) => Buffer.byteLength(line) >= 64 * 1024)).toEqual([]);
    const { entries } = await read();
    expect(entries.map((entry) => [entry.type, entry.cut])).toEqual([
      ['text', true],
      ['list', true],
      ['quotes', true],
      ['circle', true],
    ]);
    expect(entries[0]).toMatchObject({ small: 1 });
    expect(entries[0]?.text).toMatch(/é… \[cut: 2000000 bytes in all\]$/);
  });

  test('refuses a link or a folder instead of its file', async () => {
    await symlink(join(folder, 'elsewhere'), path);
    await expect(open()).rejects.toMatchObject({ code: 'STATE_UNUSABLE' });
    await rm(path);
    await mkdir(path);
    await expect(open()).rejects.toMatchObject({ code: 'STATE_UNUSABLE' });
    expect(await readdir(folder)).toEqual(['journal.ndjson']);
  });
});

describe('readJournal', () => {
  test('returns pages by bytes, each with the cursor of the next', async () => {
    await write(10, undefined, 30);
    const seqs: number[] = [];
    for (let page = await read(0, 300); ; page = await read(page.nextSeq, 300)) {
      expect(page.entries.length).toBeLessThanOrEqual(3);
      seqs.push(...page.entries.map((entry) => entry.seq));
      if (!page.more) break;
    }
    expect(seqs).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(await read(10)).toEqual({ entries: [], nextSeq: 10, more: false, gone: 0 });
    expect((await read(3, 1)).entries.map((entry) => entry.seq)).toEqual([4]);
  });

  test('is bounded: the older half rotates, numbers continue, and readers learn how many entries are gone', async () => {
    await write(1_000, 20_000, 20);
    const sizes = await Promise.all([path, `${path}.1`].map(async (file) => (await stat(file)).size));
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(25_000);
    const { entries, gone, more } = await read();
    expect(entries.map((entry) => entry.seq)).toEqual(entries.map((_, index) => gone + 1 + index));
    expect([gone + entries.length, more]).toEqual([1_000, false]);
    expect(entries.length).toBeGreaterThan(80);
    expect((await read(990)).gone).toBe(0);
    const page = await read(gone + 1, 1);
    expect([page.entries[0]?.seq, page.gone, page.more]).toEqual([gone + 2, 0, true]);
    const journal = await open(20_000);
    expect(journal.append('next')).toBe(1_001);
    await journal.close();
  });

  test('a reader that follows a rotating writer sees every number once', async () => {
    const journal = await open(60_000);
    const seqs: number[] = [];
    let gone = 0;
    let nextSeq = 0;
    for (let round = 0; round < 200; round++) {
      for (let index = 0; index < 10; index++) journal.append('event', { text: 'x'.repeat(200) });
      const page = await read(nextSeq, 8_000);
      gone += page.gone;
      nextSeq = page.nextSeq;
      seqs.push(...page.entries.map((entry) => entry.seq));
    }
    await journal.close();
    seqs.push(...(await read(nextSeq)).entries.map((entry) => entry.seq));
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
    expect([seqs.length + gone, seqs.at(-1)]).toEqual([2_000, 2_000]);
    expect(gone).toBe(0);
  });
});
