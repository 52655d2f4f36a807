import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { MAX_PLAIN_LINE_BYTES, type PlainLines } from '../../../src/claude/program/plain-lines.js';
import { PrintedLines } from '../../../src/claude/program/printed-lines.js';

describe('what a program prints', () => {
  let told: string[];
  let printed: PrintedLines;

  beforeEach(() => {
    told = [];
    printed = new PrintedLines(
      (text) => told.push(text),
      (plain) => told.push(plain.toString().replace(/\n$/, '')),
    );
  });
  const feed = (...chunks: readonly (string | Buffer)[]) =>
    chunks.forEach((chunk) => printed.bytes(Buffer.from(chunk)));
  const lines = () => told.flatMap((text) => text.split('\n'));

  it('is told in whole lines, however it was cut', () => {
    feed('one\r\ntw', 'o\r', '\nthree\r\nfo');
    expect(lines()).toEqual(['one', 'two', 'three']);
    printed.end([]);
    expect(lines()).toEqual(['one', 'two', 'three', 'fo']);
  });

  it('keeps blank lines', () => {
    feed('a\n\n\nb\n');
    expect(lines()).toEqual(['a', '', '', 'b']);
  });

  it('puts characters together that were split', () => {
    const bytes = Buffer.from('grüße €\n');
    for (const byte of bytes) printed.bytes(Buffer.from([byte]));
    expect(lines()).toEqual(['grüße €']);
  });

  it('leaves out colours and titles, split ones too', () => {
    feed('\x1b[1;3', '1mred\x1b[0m\x1b]0;title\x07 and blue\n', '\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n');
    expect(lines()).toEqual(['red and blue', 'link']);
  });

  it('of a line that was written over, tells what stood there last', () => {
    feed('10 %\r20 %\r100 %\r\ndone\n');
    expect(lines()).toEqual(['100 %', 'done']);
  });

  it('a line without an end is told in parts', () => {
    feed('x'.repeat(40_000), 'x'.repeat(40_000), 'end\n');
    expect(told.map((text) => text.length)).toEqual([80_000, 3]);
  });

  it('colours without a line end do not pile up', () => {
    for (let count = 0; count < 10_000; count++) feed('\x1b[31mred');
    printed.end([]);
    expect(told.join('')).toBe('red'.repeat(10_000));
  });

  it('once the cursor moves, the screen tells', () => {
    feed('plain\n', '\x1b[2Jdrawn\n', 'more\n');
    printed.scrolledOff(['drawn', 'more']);
    printed.skipped(1234);
    printed.end(['last', '', '']);
    expect(lines()).toEqual([
      'plain',
      'drawn',
      'more',
      '[1234 bytes of fast output are not shown here; the terminal recording has them]',
      'last',
    ]);
  });

  it.each(['\x08', '\x0b', '\x0c', '\x1bM', '\x1b[A'])('%j moves the cursor', (moving) => {
    feed(`a${moving}`, 'b\n');
    printed.scrolledOff(['from the screen']);
    expect(lines()).toEqual(['from the screen']);
  });

  it('as long as it is plain, what scrolls off is not told twice', () => {
    feed('one\n');
    printed.scrolledOff(['one']);
    printed.skipped(5);
    expect(lines()).toEqual(['one']);
  });

  it('its end is what was told last, with what is still open', () => {
    feed(`${'x'.repeat(5_000)}\nlast line\nopen`);
    expect(printed.tail(14)).toBe('last line\nopen');
    expect(printed.tail(100_000)?.length).toBeLessThanOrEqual(4_004);
    feed('\x1b[H\n');
    expect(printed.tail(14)).toBeUndefined();
  });

  it('a character that its line cuts short does not spoil the next one', () => {
    feed(Buffer.from([0x61, 0xc3, 0x0a]), 'b\n');
    expect(lines()).toEqual(['a\ufffd', 'b']);
  });

  it('a flood is told as it would be line by line, whatever it holds and however it is cut', () => {
    const odd = fc.oneof(
      fc.constantFrom('\r', '\t', '\x7f', '\x07', '\x85', '\x1b[1m', '\x1b[H', '\x1b]0;title', 'é€', '\xa0'),
      fc.constant('x'.repeat(MAX_PLAIN_LINE_BYTES)),
      fc.string({ unit: 'binary', maxLength: 20 }),
    );
    const run = fc.record({
      count: fc.integer({ min: 20, max: 80 }),
      line: fc.string({ minLength: 80, maxLength: 200 }),
      odd: fc.option(odd, { freq: 2 }),
    });
    const read = (pieces: readonly Buffer[], plain?: Pick<PlainLines, 'from'>) => {
      const texts: string[] = [];
      let floods = 0;
      const take = (more: Buffer): void => {
        floods++;
        texts.push(more.toString());
      };
      const all = new PrintedLines((text) => texts.push(`${text}\n`), take, plain);
      for (const piece of pieces) all.bytes(piece);
      const tail = all.tail(5_000);
      all.end([]);
      return { text: texts.join(''), tail, floods };
    };
    let floods = 0;
    fc.assert(
      fc.property(fc.array(run, { maxLength: 6 }), fc.integer({ min: 5_000, max: 70_000 }), (runs, size) => {
        const text = runs.map(
          (one) => `${one.line.replaceAll('\n', '')}\r\n`.repeat(one.count) + (one.odd ?? ''),
        );
        const bytes = Buffer.from(text.join(''));
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
          bytes.subarray(at * size, (at + 1) * size),
        );
        const fast = read(pieces);
        const slow = read(pieces, { from: () => undefined });
        floods += fast.floods;
        expect(fast.tail).toBe(slow.tail);
        expect(fast.text).toBe(slow.text);
      }),
    );
    expect(floods).toBeGreaterThan(0);
  });
});
