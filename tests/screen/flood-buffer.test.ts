import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  FLOOD_BYTES,
  FLOOD_TAIL_BYTES,
  FloodBuffer,
  PLAIN_FLOOD_BYTES,
} from '../../src/screen/flood-buffer.js';
import { SkippedModes } from '../../src/screen/skipped-modes.js';

const skip = (...parts: readonly string[]) => {
  const modes = new SkippedModes();
  for (const part of parts) modes.skip(Buffer.from(part));
  return modes.take();
};
const ROWS = 40;
const START = '\x18\x1b[0m';

it('output below the flood mark is given whole and unchanged, however it is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 2000 }), { maxLength: 50 }), (chunks) => {
      const buffer = new FloodBuffer();
      for (const chunk of chunks) buffer.add(Buffer.from(chunk), false, ROWS);
      const { bytes, skippedBytes } = buffer.take(true, ROWS);
      expect(skippedBytes).toBe(0);
      expect(bytes.equals(Buffer.concat(chunks))).toBe(true);
      expect(buffer.isEmpty).toBe(true);
    }),
  );
});

it('an escape sequence that is not complete waits for its rest', () => {
  const buffer = new FloodBuffer();
  buffer.add(Buffer.from('text\x1b[3'), false, ROWS);
  expect(buffer.take(false, ROWS).bytes.toString()).toBe('text');
  expect(buffer.isEmpty).toBe(false);
  buffer.add(Buffer.from('1mred'), false, ROWS);
  expect(buffer.take(false, ROWS).bytes.toString()).toBe('\x1b[31mred');
});

it('a flood is cut to its tail at a line’s beginning, in bounded memory', () => {
  const buffer = new FloodBuffer();
  const line = `${'x'.repeat(98)}\r\n`;
  const chunk = Buffer.from(line.repeat(50));
  const chunks = 3 * Math.ceil(FLOOD_BYTES / chunk.length);
  for (let count = 0; count < chunks; count++) buffer.add(chunk, false, ROWS);
  const { bytes, skippedBytes } = buffer.take(false, ROWS);
  const shown = bytes.toString().slice(START.length);
  expect(bytes.toString().startsWith(START)).toBe(true);
  expect(skippedBytes + shown.length).toBe(chunks * chunk.length);
  expect(shown.length).toBeLessThanOrEqual(FLOOD_TAIL_BYTES);
  expect(shown.length).toBeGreaterThan(FLOOD_TAIL_BYTES - 2 * line.length);
  expect(shown.startsWith('x'.repeat(98))).toBe(true);
});

it.each([
  ['text only', 'lorem \x1b[31;1mipsum\x1b[0m\x1b[2K\x1b[5A', ''],
  ['the last setting of a mode counts', '\x1b[?25l\x1b[?1h\x1b[?25h', '\x1b[?1h\x1b[?25h'],
  ['several modes in one sequence', '\x1b[?1000;1006h', '\x1b[?1000h\x1b[?1006h'],
  ['insert mode, scroll region, cursor style', '\x1b[4h\x1b[2;20r\x1b[5 q', '\x1b[4h\x1b[2;20r\x1b[5 q'],
  ['character sets', '\x1b(0\x0eqqq', '\x0e\x1b(0'],
  ['back to the first character set', '\x1b)0\x0eqqq\x0f', '\x0f\x1b)0'],
  ['keypad', '\x1b=\x1b>', '\x1b>'],
  ['titles and other strings', '\x1b]0;\x1b[?1049h\x07\x1bPq...\x1b\\', '\x1b[?1049h'],
  ['queries', '\x1b[c\x1b[6n\x1b]11;?\x07\x1b]2;title\x07', '\x1b[c\x1b[6n\x1b]11;?\x07'],
])('what is kept of skipped output: %s', (_what, skipped, kept) => {
  expect(skip(skipped)).toBe(START + kept);
});

it('a full reset forgets what was set before it', () => {
  expect(skip('\x1b[?1049h\x1bc\x1b[?2004h')).toBe('\x18\x1bc\x1b[0m\x1b[?2004h');
});

it('sequences cut anywhere are read whole', () => {
  const text = 'a\x1b[?1049hb\x1b]11;?\x1b\\c\x1b(0d';
  for (let cut = 0; cut <= text.length; cut++)
    expect(skip(text.slice(0, cut), text.slice(cut))).toBe(skip(text));
});

it('a sequence whose beginning was skipped is completed by what follows', () => {
  expect(skip('text\x1b[?10')).toBe(`${START}\x1b[?10`);
});

it('of plain lines that are kept elsewhere a screenful is shown, and only as long as nothing else comes with them', () => {
  const lines = Buffer.from('a line of text\n'.repeat(Math.ceil(PLAIN_FLOOD_BYTES / 15) + 1));
  const buffer = new FloodBuffer();
  buffer.add(lines, true, ROWS);
  const { bytes, skippedBytes, isPlain } = buffer.take(false, ROWS);
  expect(isPlain).toBe(true);
  expect(bytes.toString()).toBe(START + 'a line of text\n'.repeat(ROWS));
  expect(skippedBytes).toBe(lines.length - ROWS * 15);
  buffer.add(lines.subarray(0, PLAIN_FLOOD_BYTES / 2), true, ROWS);
  buffer.add(lines, false, ROWS);
  expect(buffer.take(false, ROWS)).toMatchObject({ skippedBytes: 0, isPlain: false });
  // Every frame is judged by itself.
  buffer.add(lines, true, ROWS);
  expect(buffer.take(false, ROWS).skippedBytes).toBeGreaterThan(0);
});

it('of a flood of plain lines the last ones are given, however it is cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat({ max: 300 }), { minLength: 200, maxLength: 400 }),
      fc.string({ maxLength: 10 }),
      fc.oneof(
        fc.integer({ min: 100, max: 20_000 }),
        // Pieces that fill the screen by themselves.
        fc.integer({ min: 20_480, max: FLOOD_TAIL_BYTES }),
      ),
      (lengths, open, size) => {
        const text = `${lengths.map((length, at) => `${at}${'x'.repeat(length)}\r\n`).join('')}${open}`;
        const bytes = Buffer.from(text);
        fc.pre(bytes.length > PLAIN_FLOOD_BYTES);
        const buffer = new FloodBuffer();
        for (let at = 0; at < bytes.length; at += size) buffer.add(bytes.subarray(at, at + size), true, ROWS);
        const last = bytes
          .toString('latin1')
          .split('\n')
          .slice(-ROWS - 1)
          .join('\n');
        const taken = buffer.take(true, ROWS);
        expect(taken.bytes.toString('latin1')).toBe(START + last);
        expect(taken.skippedBytes).toBe(bytes.length - last.length);
      },
    ),
  );
});

it('what was taken stays as it is when more comes', () => {
  const buffer = new FloodBuffer();
  const taken = ['x', 'y'].map((letter) => {
    buffer.add(Buffer.from(letter.repeat(30_000)), true, ROWS);
    return buffer.take(true, ROWS).bytes;
  });
  expect(taken.map((bytes) => bytes.toString())).toEqual(['x'.repeat(30_000), 'y'.repeat(30_000)]);
});

it('of plain lines as many are shown as fill the screen, however long they are, and the open one', () => {
  const line = `${'─'.repeat(300)}\n`;
  const buffer = new FloodBuffer();
  for (let at = 0; at < 1_000; at++) buffer.add(Buffer.from(line), true, ROWS);
  buffer.add(Buffer.from('Proceed? '), true, ROWS);
  expect(buffer.take(false, ROWS).bytes.toString()).toBe(`${START}${line.repeat(ROWS)}Proceed? `);
  const endless = Buffer.from('x'.repeat(FLOOD_BYTES));
  buffer.add(endless, true, ROWS);
  expect(buffer.take(false, ROWS).bytes.length).toBe(START.length + FLOOD_TAIL_BYTES);
});
