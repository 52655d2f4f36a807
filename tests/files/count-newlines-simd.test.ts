import { describe, expect, it } from 'vitest';
import { countedBuffer, countNewlines } from '../../src/files/count-newlines.js';

const SIZE = 1_048_576;

describe('line feeds, sixteen bytes at a time', () => {
  it('are those that a look at each byte finds, wherever they lie', () => {
    const buffer = countedBuffer(SIZE);
    const count = buffer.simd;
    if (count === undefined) throw new Error('This processor counts no sixteen bytes at once.');
    // Every distance between feeds from 1 to 40, and bytes that differ from a feed in one bit.
    for (let at = 0; at < SIZE; at++) buffer.bytes[at] = [0x0b, 0x08, 0x8a, 0x1a][at % 4] ?? 0;
    for (let at = 3, gap = 1; at < SIZE; at += gap, gap = (gap % 40) + 1) buffer.bytes[at] = 0x0a;
    for (const [from, to] of [
      [0, SIZE],
      [0, 16],
      [16, 64],
      [SIZE - 16, SIZE],
    ] as const) {
      let found = 0;
      for (let at = from; at < to; at++) if (buffer.bytes[at] === 0x0a) found++;
      expect(count(from, to)).toBe(found);
    }
  });

  it('and the rest of a piece make the sum, for pieces that begin and end anywhere', () => {
    const buffer = countedBuffer(SIZE);
    expect(buffer.simd).toBeDefined();
    buffer.bytes.fill('ab\nc\n\nlonger line of text\n');
    for (const [from, to] of [
      [0, SIZE - 1],
      [4, 4_099],
      [65_536, 65_536 + 7],
      [8, 9],
      [20, 20],
    ] as const) {
      const lines = buffer.bytes.toString('latin1', from, to).split('\n').length - 1;
      expect(countNewlines(buffer, from, to, 'utf-8')).toBe(lines);
    }
  });
});
