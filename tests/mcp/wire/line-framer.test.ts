import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineFramer, type Line } from '../../../src/mcp/wire/line-framer.js';

function linesOf(chunks: readonly Buffer[], maxBytes: number): Line[] {
  const lines: Line[] = [];
  const framer = new LineFramer(maxBytes, (line) => lines.push(line));
  for (const chunk of chunks) framer.push(chunk);
  framer.end();
  return lines;
}

test('lines come out whole however the bytes were cut', () => {
  const line = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((text) => !text.includes('\n'));
  fc.assert(
    fc.property(fc.array(line, { minLength: 1 }), fc.integer({ min: 1, max: 9 }), (texts, size) => {
      const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''));
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      );
      expect(linesOf(chunks, 10_000)).toEqual(texts.map((text) => ({ kind: 'line', text })));
    }),
  );
});

test('of a line over the limit both ends are kept, and the next line is whole', () => {
  const long = `head${'x'.repeat(20_000)}tail`;
  const chunks = [...`${long}\nnext`].map((char) => Buffer.from(char));
  const [first, second] = linesOf(chunks, 10_000);
  expect(first).toMatchObject({ kind: 'too-long', bytes: 20_008 });
  expect(
    first?.kind === 'too-long' && [first.head.slice(0, 5), first.tail.slice(-5), first.tail.length],
  ).toEqual(['headx', 'xtail', 4096]);
  expect(second).toEqual({ kind: 'line', text: 'next' });
});
