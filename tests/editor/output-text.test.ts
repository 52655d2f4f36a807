import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutputBuffer } from '../../vscode/src/terminals/output-buffer.js';
import { OutputText } from '../../vscode/src/terminals/output-text.js';

function through(pieces: readonly string[]): string {
  const text = new OutputText();
  return pieces.map((piece) => text.take(piece)).join('') + text.rest();
}

test('marks of the shell are taken out, wherever the output is cut', () => {
  const whole =
    '\u001b]633;C\u0007one\r\n\u001b[31mtwo\u001b[0m\r\r\n\u001b]633;E;ls;x\u001b\\three\u001b]633;D;0\u0007';
  for (let cut = 0; cut <= whole.length; cut++)
    expect(through([whole.slice(0, cut), whole.slice(cut)])).toBe('one\n\u001b[31mtwo\u001b[0m\r\nthree');
});

test('what zsh shows after the output is taken out, wherever the output is cut', () => {
  const end = `\u001b[1m\u001b[7m%\u001b[27m\u001b[1m\u001b[0m${' '.repeat(79)}\r \r`;
  for (const [shown, output] of [
    [`\u001b]633;C\u0007one\r\n${end}`, 'one\n'],
    [`one${end}`, 'one'],
    [end, ''],
    [`${end}two\r\n`, `${end}two\n`],
    ['\u001b[1m\u001b[7m%', '\u001b[1m\u001b[7m%'],
  ] as const) {
    for (let cut = 0; cut <= shown.length; cut++)
      expect(through([shown.slice(0, cut), shown.slice(cut)])).toBe(output);
    expect(through([...shown])).toBe(output);
  }
});

test('what a program wrote comes through a terminal as it was', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', '\r', '\n', '\u001b', ']', '633;', '漢', '🚀')), (parts) => {
      const written = parts.join('');
      fc.pre(!written.includes('\u001b]633;'));
      // The terminal puts a carriage return before each end of a line.
      const shown = written.replaceAll('\n', '\r\n');
      expect(through([...shown])).toBe(written);
    }),
  );
});

test('the newest output is kept, and older output is counted', () => {
  const buffer = new OutputBuffer(10);
  buffer.append('0123456789');
  buffer.append('abcde');
  expect(buffer.read(0, 100)).toEqual({ text: '56789abcde', from: 5, cursor: 15, dropped: 5 });
  expect(buffer.read(13, 100)).toEqual({ text: 'de', from: 13, cursor: 15, dropped: 0 });
  expect(buffer.read(99, 100)).toEqual({ text: '', from: 15, cursor: 15, dropped: 0 });
  expect(buffer.tail(2, 15, 4)).toEqual({ text: 'bcde', omitted: 9 });
});

test('a character of two halves is not cut', () => {
  const buffer = new OutputBuffer();
  buffer.append('a🚀b🚀');
  expect(buffer.read(0, 2)).toMatchObject({ text: 'a', cursor: 1 });
  expect(buffer.read(1, 2)).toMatchObject({ text: '🚀', cursor: 3 });
  expect(buffer.tail(0, 6, 1)).toEqual({ text: '', omitted: 6 });
});

test('many pieces are read back as they came', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.integer({ min: 2, max: 20 }), (pieces, size) => {
      const buffer = new OutputBuffer();
      for (const piece of pieces) buffer.append(piece);
      let text = '';
      for (let cursor = 0; cursor < buffer.end;) {
        const read = buffer.read(cursor, size);
        text += read.text;
        cursor = read.cursor;
      }
      expect(text).toBe(pieces.join(''));
    }),
  );
});
