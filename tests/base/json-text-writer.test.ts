import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainWriter, simdWriter, type JsonTextWriter } from '../../src/base/json-text-writer.js';

const SOURCE_BYTES = 4_096;
const TARGET_BYTES = SOURCE_BYTES * 6 + 64;

function required(writer: JsonTextWriter | undefined): JsonTextWriter {
  if (writer === undefined) throw new Error('This processor works on no sixteen bytes at once.');
  return writer;
}

describe.each([
  ['sixteen bytes at once', () => required(simdWriter(SOURCE_BYTES, TARGET_BYTES))],
  ['four bytes at once', () => plainWriter(SOURCE_BYTES, TARGET_BYTES)],
] as const)('JSON text, %s', (_, make) => {
  it('is what JSON.stringify makes of any text', () => {
    const writer = make();
    const parts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      fc.constantFrom('\r\n', '"', '\\', '\u0000\u001b[31m', 'a'.repeat(150), 'ä'.repeat(17), '\u007f'),
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 12 }), fc.nat(60), (texts, at) => {
        const length = writer.source.write(texts.join(''));
        const text = writer.source.toString('utf8', 0, length);
        const end = writer.write(0, length, at);
        expect(writer.target.toString('utf8', at, end)).toBe(JSON.stringify(text).slice(1, -1));
      }),
    );
  });

  it('goes on behind what is there, piece by piece, and touches nothing before it', () => {
    const writer = make();
    const text = 'one "line"\r\nand \u001b[1manother\\ one\n'.repeat(20);
    const length = writer.source.write(text);
    writer.target.write('head', 0);
    let end = 4;
    for (let from = 0; from < length; from += 20) end = writer.write(from, Math.min(length, from + 20), end);
    expect(writer.target.toString('utf8', 0, end)).toBe(`head${JSON.stringify(text).slice(1, -1)}`);
  });

  it.each([16, 20, 64, 68, 128])('ends between the two bytes of a line end, at %i', (to) => {
    const writer = make();
    const text = `${'a'.repeat(to - 1)}\r`;
    writer.source.write(`${text}\n`);
    const end = writer.write(0, to, 0);
    expect(writer.target.toString('utf8', 0, end)).toBe(JSON.stringify(text).slice(1, -1));
  });

  it('has room for a source that is full of what takes the most room', () => {
    const writer = make();
    writer.source.fill(0x1f);
    const end = writer.write(0, SOURCE_BYTES, 0);
    expect(writer.target.toString('utf8', 0, end)).toBe('\\u001f'.repeat(SOURCE_BYTES));
  });
});
