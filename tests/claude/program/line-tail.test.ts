import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LineTail } from '../../../src/claude/program/line-tail.js';

it('is the same whether lines come as text or as bytes, and at most four thousand characters', () => {
  const lines = fc
    .array(fc.tuple(fc.stringMatching(/^[a-zü€😀 ]{0,20}$/u), fc.constantFrom(1, 3, 900)), { minLength: 1 })
    .map((parts) => parts.map(([line, count]) => `${line}\n`.repeat(count)).join(''));
  fc.assert(
    fc.property(fc.array(fc.tuple(lines, fc.boolean(), fc.boolean()), { maxLength: 5 }), (pieces) => {
      const tail = new LineTail();
      for (const [text, isFlood, isAsked] of pieces) {
        if (isFlood) tail.addBytes(Buffer.from(text));
        else tail.add(text.slice(0, -1));
        if (isAsked) expect(tail.text.length).toBeLessThanOrEqual(4_000);
      }
      const all = pieces.map(([text]) => text).join('');
      expect(tail.text).toBe(all.slice(-4_000));
    }),
  );
});
