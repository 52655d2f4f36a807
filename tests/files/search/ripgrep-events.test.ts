import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RipgrepEvents } from '../../../src/files/search/ripgrep-events.js';

/** As ripgrep writes it: a name and a line that are not UTF-8 come as base64, and the fields of the summary in another order. */
const STREAM = Buffer.from(
  [
    { type: 'begin', data: { path: { text: './src/a.ts' } } },
    match({ text: 'foo é foo\r\n' }, 3, [7, 12]),
    {
      type: 'context',
      data: { path: { text: './src/a.ts' }, lines: { text: 'x\n' }, line_number: 4, submatches: [] },
    },
    match({ bytes: Buffer.from('n\xe4 foo\n', 'latin1').toString('base64') }, 5, [3]),
    { type: 'end', data: { path: { text: './src/a.ts' }, binary_offset: null, stats: {} } },
    { type: 'begin', data: { path: { text: 'skipped' } } },
    match({ text: 'foo' }, 1, [0]),
    { type: 'end', data: { path: { text: 'skipped' }, binary_offset: null, stats: {} } },
    { type: 'begin', data: { path: { bytes: '/w==' } } },
    match({ text: 'foo' }, 1, [0]),
    { type: 'end', data: { path: { bytes: '/w==' }, binary_offset: null, stats: {} } },
    { type: 'begin', data: { path: { text: './binary' } } },
    match({ text: 'foo' }, 1, []),
    { type: 'end', data: { path: { text: './binary' }, binary_offset: 3, stats: {} } },
    { data: { elapsed_total: {}, stats: { searches: 17 } }, type: 'summary' },
  ]
    .map((event) => `${JSON.stringify(event)}\n`)
    .join(''),
);

function match(lines: object, line: number, starts: readonly number[]) {
  const submatches = starts.map((start) => ({ match: {}, start, end: start + 3 }));
  return { type: 'match', data: { lines, line_number: line, absolute_offset: 0, submatches } };
}

test('the stream of ripgrep is read file by file, whatever its chunks', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: STREAM.length }), (pieceBytes) => {
      const heard: unknown[] = [];
      const events = new RipgrepEvents({
        begin: (path) => {
          heard.push(path);
          return path !== 'skipped';
        },
        replacedName: () => void heard.push('replaced'),
        line: (line) => void heard.push(line),
        tooLarge: () => void heard.push('too large'),
        end: (isBinary) => void heard.push(isBinary ? 'binary' : 'text'),
      });
      for (let at = 0; at < STREAM.length; at += pieceBytes)
        events.push(STREAM.subarray(at, at + pieceBytes));
      expect(events.isWhole).toBe(true);
      expect(heard).toEqual([
        'src/a.ts',
        { line: 3, column: 6, text: 'foo é foo' },
        { line: 4, column: undefined, text: 'x' },
        { line: 5, column: 3, text: 'n\ufffd foo' },
        'text',
        'skipped',
        'replaced',
        'binary',
        { line: 1, column: undefined, text: 'foo' },
        'binary',
      ]);
    }),
  );
});

test('an event that would take long to parse is reported without its line', () => {
  const heard: unknown[] = [];
  const events = new RipgrepEvents({
    begin: (path) => heard.push(path) > 0,
    replacedName: () => undefined,
    line: ({ line }) => void heard.push(line),
    tooLarge: () => void heard.push('too large'),
    end: () => void heard.push('end'),
  });
  const stream = [
    { type: 'begin', data: { path: { text: './a' } } },
    match({ text: 'x'.repeat(2_000_000) }, 1, [0]),
    match({ text: 'x' }, 2, [0]),
    { type: 'end', data: { path: { text: './a' }, binary_offset: null } },
  ];
  for (const event of stream) events.push(Buffer.from(`${JSON.stringify(event)}\n`));
  expect(heard).toEqual(['a', 'too large', 2, 'end']);
});
