import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.js';
import { headAndTail } from '../../../src/processes/output/first-output.js';
import { OutputReader } from '../../../src/processes/output/output-reader.js';
import { plainText } from '../../../src/base/text/plain-text.js';
import { lastLines, textFrom } from '../../../src/processes/output/read-text.js';
import { searchOutput } from '../../../src/processes/output/search-output.js';
import { textFinder } from '../../../src/processes/output/text-finder.js';
import { ManualClock } from '../../harness/manual-clock.js';
import { scratchFolder } from '../scratch-folder.js';

/** A stream that was printed, its parts beginning where the keys say. */
async function printed(
  parts: Readonly<Record<number, string | Buffer>> | string | Buffer,
): Promise<OutputReader> {
  const folder = await scratchFolder();
  const files = typeof parts === 'string' || Buffer.isBuffer(parts) ? { 0: parts } : parts;
  for (const [start, bytes] of Object.entries(files)) await writeFile(join(folder, `stdout.${start}`), bytes);
  return new OutputReader(folder, 'stdout');
}

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join('');

describe('the last lines', () => {
  test('are as many as asked for, with the last newline', async () => {
    const reader = await printed(lines(1, 500));
    const { text, cursor, from } = await lastLines(reader, 3, 8_000, false);
    expect(text).toBe('line 498\nline 499\nline 500\n');
    expect(cursor).toBe((await reader.extent()).end);
    expect(from).toBe(cursor - text.length);
  });

  test('count a last line that has not ended', async () => {
    expect((await lastLines(await printed('a\nb\nc'), 2, 8_000, false)).text).toBe('b\nc');
    expect((await lastLines(await printed('a\nb\nc\n\n'), 2, 8_000, false)).text).toBe('c\n\n');
    expect((await lastLines(await printed('only'), 5, 8_000, false)).text).toBe('only');
    expect((await lastLines(await printed(''), 5, 8_000, false)).text).toBe('');
  });

  test('are cut at their front to the size that was asked for, between characters', async () => {
    const { text } = await lastLines(await printed(`${'ä'.repeat(1_000)}\n`), 10, 100, false);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(100);
    expect(text).toMatch(/^ä+\n$/);
  });

  test('hold back a character that is not whole, until the process has ended', async () => {
    const reader = await printed(Buffer.concat([Buffer.from('price: '), Buffer.from('€').subarray(0, 2)]));
    const running = await lastLines(reader, 5, 8_000, false);
    expect(running).toMatchObject({ text: 'price: ', cursor: 7 });
    expect((await lastLines(reader, 5, 8_000, true)).text).toBe('price: \ufffd');
  });

  test('hold no escape sequences, and of a line that was written over its last state', async () => {
    const raw = '\x1b[31mred\x1b[0m \x1b]0;title\x07text\r\n 10 %\r 50 %\r100 %\nab\bc\n';
    expect((await lastLines(await printed(raw), 10, 8_000, false)).text).toBe('red text\n100 %\nac\n');
  });
});

describe('a text from an offset on', () => {
  test('goes on where the one before ended, and tears no character', async () => {
    const whole = 'aä€😀'.repeat(50);
    const reader = await printed(whole);
    let read = '';
    for (let cursor = 0; ;) {
      const part = await textFrom(reader, cursor, 7, true);
      if (part.cursor === cursor) break;
      read += part.text;
      cursor = part.cursor;
    }
    expect(read).toBe(whole);
  });

  test('begins at the next byte that is kept, and says which that is', async () => {
    const reader = await printed({ 1000: 'kept\n', 2000: 'later\n' });
    expect(await textFrom(reader, 0, 100, false)).toEqual({ text: 'kept\n', from: 1000, cursor: 1005 });
    expect(await textFrom(reader, 1005, 100, false)).toEqual({ text: 'later\n', from: 2000, cursor: 2006 });
    expect(await reader.extent()).toEqual({ start: 1000, end: 2006, missingBytes: 1995 });
  });

  test('is empty behind the end', async () => {
    expect(await textFrom(await printed('abc'), 10, 100, false)).toEqual({ text: '', from: 3, cursor: 3 });
  });

  test('does not stay for ever at bytes that are no text', async () => {
    const reader = await printed(Buffer.from([0xf0, 0x9f, 0x98]));
    const { cursor } = await textFrom(reader, 0, 3, false);
    expect(cursor).toBe(3);
  });
});

describe('head and tail', () => {
  test('are the whole where it fits', async () => {
    expect(await headAndTail(await printed(lines(1, 10)), 0, 8_196)).toBe(lines(1, 10));
  });

  test('are the two ends of more, with the exact number of characters between', async () => {
    const whole = `ä${lines(1, 3_000)}`;
    const shown = await headAndTail(await printed(whole), 0, 8_196);
    expect(shown.length).toBeLessThanOrEqual(8_196);
    const [, head = '', count, tail = ''] =
      /^([^]*)\n… (\d+) characters left out …\n([^]*)$/.exec(shown) ?? [];
    expect(whole.startsWith(head)).toBe(true);
    expect(whole.endsWith(tail)).toBe(true);
    expect(head.length + Number(count) + tail.length).toBe(whole.length);
  });

  test('count bytes in a flood', async () => {
    const bytes = 2_000_000;
    const shown = await headAndTail(await printed('x'.repeat(bytes)), 0, 8_196);
    const [, head = '', count, tail = ''] = /^(x*)\n… (\d+) bytes left out …\n(x*)$/.exec(shown) ?? [];
    expect(head.length + Number(count) + tail.length).toBe(bytes);
    expect(shown.length).toBeLessThanOrEqual(8_196);
  });

  test('begin where they are told to', async () => {
    expect(await headAndTail(await printed('before after'), 7, 8_196)).toBe('after');
  });
});

describe('a search', () => {
  const options = {
    from: 0,
    maxFound: 50,
    maxLineChars: 300,
    limitMs: 5_000,
    clock: systemClock,
  };
  const holds = (text: string, isRegex = false) => textFinder(text, isRegex);

  test('finds lines by a fixed text, with their offsets', async () => {
    const reader = await printed('one\ntwo.\nthree\ntwo?');
    expect(await searchOutput(reader, holds('two.'), options)).toEqual({
      found: [{ offset: 4, text: 'two.' }],
      cursor: 19,
      isMore: false,
    });
    const byRegex = await searchOutput(reader, holds('^two[.?]$', true), options);
    expect(byRegex.found.map(({ offset }) => offset)).toEqual([4, 15]);
  });

  test('finds a line that lies across what is read at once', async () => {
    const reader = await printed(`${'x'.repeat(65_530)}\nneedle in here\n${'y'.repeat(70_000)}`);
    const { found, isMore } = await searchOutput(reader, holds('needle in'), options);
    expect(found).toEqual([{ offset: 65_531, text: 'needle in here' }]);
    expect(isMore).toBe(false);
  });

  test('goes on behind what it found', async () => {
    const reader = await printed(lines(1, 120));
    const first = await searchOutput(reader, holds('line'), options);
    expect(first).toMatchObject({ isMore: true });
    expect(first.found).toHaveLength(50);
    const second = await searchOutput(reader, holds('line'), { ...options, from: first.cursor });
    expect(second.found[0]?.text).toBe('line 51');
    const third = await searchOutput(reader, holds('line'), { ...options, from: second.cursor });
    expect(third.found).toHaveLength(20);
    expect(third.isMore).toBe(false);
  });

  test('gives up when its time is over, and says where to go on', async () => {
    const clock = new ManualClock();
    const reader = await printed('x\n'.repeat(200_000));
    const slow = (): boolean => {
      clock.advance(1);
      return false;
    };
    const { isMore, cursor } = await searchOutput(reader, slow, { ...options, limitMs: 100, clock });
    expect(isMore).toBe(true);
    expect(cursor).toBeGreaterThan(0);
    expect(cursor).toBeLessThan(400_000);
  });

  test('is over behind a line without an end', async () => {
    const reader = await printed('z'.repeat(1_000_000));
    const { found, isMore } = await searchOutput(reader, holds('zz'), options);
    expect(found[0]?.text).toHaveLength(300);
    expect(isMore).toBe(false);
  });

  test('finds text beneath colours', async () => {
    const { found } = await searchOutput(
      await printed('\x1b[1mer\x1b[31mror\x1b[0m: bad\n'),
      holds('error: bad'),
      options,
    );
    expect(found).toEqual([{ offset: 0, text: 'error: bad' }]);
  });

  test('refuses what is no expression', () => {
    expect(() => textFinder('(', true)).toThrow(/is no regular expression in RE2 syntax/);
    expect(textFinder('(', false)('a(b')).toBe(true);
  });
});

describe('plain text', () => {
  test('is left as it is', () => {
    const text = 'words, tabs\tand\n\nlines — ünïcode 😀\n';
    expect(plainText(text)).toBe(text);
  });

  test('has no control characters', () => {
    expect(plainText('a\x00b\x07c\x1bD\x7f')).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f]/);
  });
});
