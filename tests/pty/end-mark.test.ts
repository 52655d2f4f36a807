import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EndMarkReader } from '../../src/pty/end-mark.js';

const NONCE = '0123456789abcdef0123456789abcdef';
const mark = (code: number | string, nonce = NONCE) =>
  `\x1b]6973;${nonce};${typeof code === 'number' ? String(code).padStart(3, '0') : code}\x07`;

function readAll(chunks: readonly Buffer[]): { output: string; codes: number[] } {
  const reader = new EndMarkReader(NONCE);
  const codes: number[] = [];
  let output = '';
  for (const chunk of chunks) {
    const result = reader.read(chunk);
    output += result.output.toString('latin1');
    if (result.code !== undefined) codes.push(result.code);
  }
  return { output: output + reader.flush().toString('latin1'), codes };
}

it('the mark is found wherever its bytes are cut, and taken out of the output', () => {
  const bytes = Buffer.from(`before\x1b]69${mark(42)}after`, 'latin1');
  for (let first = 0; first <= bytes.length; first++) {
    for (let second = first; second <= bytes.length; second++) {
      const chunks = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
      expect(readAll(chunks)).toEqual({ output: 'before\x1b]69after', codes: [42] });
    }
  }
});

it('a mark that comes byte by byte is found', () => {
  const bytes = Buffer.from(`x${mark(143)}`, 'latin1');
  expect(readAll([...bytes].map((byte) => Buffer.from([byte])))).toEqual({ output: 'x', codes: [143] });
});

it.each([
  mark(0, 'f'.repeat(32)),
  mark(''),
  mark('01x'),
  mark('1'),
  mark('1234'),
  mark('-1'),
  mark('  1'),
  `\x1b]6973;${NONCE};`,
  `\x1b]6973;${NONCE};012`,
  '\x1b]6973;\x07',
  '\x1b\x1b\x1b]',
])('%j is ordinary output', (forged) => {
  expect(readAll([Buffer.from(`a${forged}b`, 'latin1')])).toEqual({ output: `a${forged}b`, codes: [] });
});

it('the real mark is found right behind forged ones', () => {
  const forged = `${mark(1, 'e'.repeat(32))}\x1b]6973;${NONCE};009${mark('07x')}`;
  expect(readAll([Buffer.from(`${forged}${mark(3)}`, 'latin1')])).toEqual({ output: forged, codes: [3] });
});

it('what is held back is never longer than a mark, and output without one is unchanged', () => {
  const pieces = fc.constantFrom(
    '\x1b',
    ']',
    '6973',
    ';',
    NONCE,
    '\x07',
    'text',
    '\x1b]6973;',
    `\x1b]6973;${NONCE}`,
  );
  fc.assert(
    fc.property(fc.array(pieces), fc.integer({ min: 1, max: 7 }), (parts, size) => {
      const bytes = Buffer.from(parts.join(''), 'latin1');
      const chunks: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
      const reader = new EndMarkReader(NONCE);
      let passed = 0;
      let given = 0;
      for (const chunk of chunks) {
        given += chunk.length;
        passed += reader.read(chunk).output.length;
        expect(given - passed).toBeLessThan(mark('000').length);
      }
      expect(readAll(chunks).output).toBe(bytes.toString('latin1'));
    }),
  );
});
