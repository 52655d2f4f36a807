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

it.each([mark(0, 'f'.repeat(32)), mark('01x'), mark('1234'), `\x1b]6973;${NONCE};012`])(
  '%j is ordinary output',
  (forged) => {
    expect(readAll([Buffer.from(`a${forged}b`, 'latin1')])).toEqual({ output: `a${forged}b`, codes: [] });
  },
);
