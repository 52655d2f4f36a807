import { beforeEach, describe, expect, it } from 'vitest';
import { PrintedLines } from '../../../src/claude/program/printed-lines.js';

describe('what a program prints', () => {
  let told: string[];
  let printed: PrintedLines;

  beforeEach(() => {
    told = [];
    printed = new PrintedLines((text) => told.push(text));
  });
  const feed = (...chunks: readonly (string | Buffer)[]) =>
    chunks.forEach((chunk) => printed.bytes(Buffer.from(chunk)));
  const lines = () => told.flatMap((text) => text.split('\n'));

  it('is reported in whole lines, however it was split', () => {
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

  it('loses colors and titles, even split ones', () => {
    feed('\x1b[1;3', '1mred\x1b[0m\x1b]0;title\x07 and blue\n', '\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n');
    expect(lines()).toEqual(['red and blue', 'link']);
  });

  it('has only the last text of an overwritten line', () => {
    feed('10 %\r20 %\r100 %\r\ndone\n');
    expect(lines()).toEqual(['100 %', 'done']);
  });

  it('a line without an end is reported in parts', () => {
    feed('x'.repeat(40_000), 'x'.repeat(40_000), 'end\n');
    expect(told.map((text) => text.length)).toEqual([80_000, 3]);
  });

  it('colors without a line end do not pile up', () => {
    for (let count = 0; count < 10_000; count++) feed('\x1b[31mred');
    printed.end([]);
    expect(told.join('')).toBe('red'.repeat(10_000));
  });

  it('comes from the screen once the cursor moves', () => {
    feed('plain\n', '\x1b[2Jdrawn\n', 'more\n');
    printed.scrolledOff(['drawn', 'more']);
    printed.end(['last', '', '']);
    expect(lines()).toEqual(['plain', 'drawn', 'more', 'last']);
  });

  it.each(['\x08', '\x0b', '\x0c', '\x1bM', '\x1b[A'])('%j moves the cursor', (moving) => {
    feed(`a${moving}`, 'b\n');
    printed.scrolledOff(['from the screen']);
    expect(lines()).toEqual(['from the screen']);
  });

  it('while it is plain, lines that scroll off are not reported twice', () => {
    feed('one\n');
    printed.scrolledOff(['one']);
    expect(lines()).toEqual(['one']);
  });

  it('its tail is the end of the reported lines and the incomplete one', () => {
    feed(`${'x'.repeat(5_000)}\nlast line\nopen`);
    expect(printed.tail(14)).toBe('last line\nopen');
    expect(printed.tail(100_000)?.length).toBeLessThanOrEqual(4_004);
    feed('\x1b[H\n');
    expect(printed.tail(14)).toBeUndefined();
  });

  it('a character that is cut by a line end does not spoil the next one', () => {
    feed(Buffer.from([0x61, 0xc3, 0x0a]), 'b\n');
    expect(lines()).toEqual(['a\ufffd', 'b']);
  });
});
