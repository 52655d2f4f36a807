import { describe, expect, it } from 'vitest';
import { newlinesIn } from '../../src/files/count-newlines.js';
import { FeedCounter } from '../../src/files/feed-counter.js';

describe('FeedCounter', () => {
  it('finds the line feeds that a look at each byte finds, in pieces of any size, again and again', () => {
    const counter = new FeedCounter();
    const bytes = Buffer.alloc(400_003, 'a line\nand\n\na longer one with äöü\n');
    for (const [from, to] of [
      [0, 0],
      [5, 1_000],
      [0, 65_535],
      [0, 65_536],
      [1, 65_537],
      [3, 200_000],
      [0, 400_003],
      [7, 131_079],
    ] as const) {
      const piece = bytes.subarray(from, to);
      expect(counter.count(piece, 'utf-8')).toBe(piece.toString('latin1').split('\n').length - 1);
    }
  });

  it('finds those of UTF-16 by its units', () => {
    const text = 'ab\n\u0a0a\u0a00\n'.repeat(20_000);
    const bytes = Buffer.from(text, 'utf16le');
    expect(new FeedCounter().count(bytes, 'utf-16le')).toBe(40_000);
    expect(newlinesIn(bytes.swap16(), 'utf-16be')).toBe(40_000);
  });
});
