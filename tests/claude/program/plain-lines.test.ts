import { describe, expect, it } from 'vitest';
import { MAX_PLAIN_LINE_BYTES, PlainLines } from '../../../src/claude/program/plain-lines.js';
import { ReadableLog } from '../../../src/tasks/readable-log.js';
import { ManualClock } from '../../harness/manual-clock.js';

const LINE = 'a line of a flood, with a tab\there, ü, € and 😀\r\n';
const NOTHING = Buffer.alloc(0);
const FLOOD = LINE.repeat(200);

describe('the plain lines of a flood', () => {
  const from = (text: string | Buffer) => new PlainLines().from(NOTHING, Buffer.from(text))?.toString();

  it('are as they were printed, but for carriage returns', () => {
    expect(from(FLOOD)).toBe(FLOOD.replaceAll('\r', ''));
    expect(from(FLOOD.replaceAll('\r', ''))).toBe(FLOOD.replaceAll('\r', ''));
  });

  it('are found at every place in a block of sixteen bytes', () => {
    for (let shift = 0; shift < 40; shift++) {
      const text = `${'x'.repeat(shift)}\r\n\r\n\n${FLOOD}`;
      expect(from(text)).toBe(text.replaceAll('\r', ''));
    }
  });

  it.each([0, 1, 7, 8, 11, 12, 13, 14, 27, 31, 127])('hold no control character %i', (code) => {
    for (let shift = 0; shift < 20; shift++)
      expect(from(`${FLOOD}${'x'.repeat(shift)}${String.fromCharCode(code)}y\n`)).toBeUndefined();
  });

  it('hold none of the control characters that take two bytes, and what lies beside those', () => {
    for (let code = 0x80; code < 0x100; code++) {
      const text = `${FLOOD}${String.fromCharCode(code)}\n`;
      expect(from(text)).toBe(code < 0xa0 ? undefined : text.replaceAll('\r', ''));
    }
  });

  it('have carriage returns only before their ends', () => {
    expect(from(`${FLOOD}10 %\r20 %\n`)).toBeUndefined();
    expect(from(`${FLOOD}10 %\r\r\n`)).toBeUndefined();
  });

  it('are text', () => {
    expect(from(Buffer.concat([Buffer.from(FLOOD), Buffer.from([0xc3, 0x0a])]))).toBeUndefined();
  });

  it('are as the log writes any lines, and none is as long as what it cuts', () => {
    const text = `${'x'.repeat(MAX_PLAIN_LINE_BYTES - 1)}\n${FLOOD}`;
    const plain = new PlainLines();
    expect(plain.from(NOTHING, Buffer.from(`x${text}`))).toBeUndefined();
    const lines = plain.from(NOTHING, Buffer.from(text));
    let asBytes = '';
    let asText = '';
    const clock = new ManualClock();
    if (lines !== undefined)
      new ReadableLog({ write: (more) => (asBytes += more.toString()) }, clock).plainLines(lines);
    new ReadableLog({ write: (more) => (asText += more.toString()) }, clock).output([text.trimEnd()]);
    expect(asBytes).toBe(asText);
  });

  it('are looked for neither in little nor in more than a terminal tells at once', () => {
    expect(from(LINE)).toBeUndefined();
    expect(from(LINE.repeat(2_000))).toBeUndefined();
  });
});
