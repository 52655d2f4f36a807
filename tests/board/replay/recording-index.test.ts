import fc from 'fast-check';
import { rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.js';
import type { RecordingIndex } from '../../../src/board/replay/recording-index.js';
import type { ReplayEvent, ReplayPlace } from '../../../src/board/replay/replay-state.js';
import { TerminalRecording } from '../../../src/store/terminal-recording.js';
import { BEGAN_MS, CastFile, COLUMNS, ROWS, seen, SMALL, straight, type CastEvent } from './cast-file.js';
import { rounds } from '../../harness/rounds.js';

/** What the screen shows at a moment, as text without its colours and moves. */
async function textAt(index: RecordingIndex, ms: number): Promise<string> {
  return (await seen(await index.seek(ms))).replace(/\x1b\[[\d;?]*[A-Za-z]/g, '');
}

/** All pieces after a place. */
async function readAll(index: RecordingIndex, from: ReplayPlace): Promise<ReplayEvent[]> {
  const all: ReplayEvent[] = [];
  for (let place = from; ;) {
    const { events, next } = await index.read(place);
    if (events.length === 0) return all;
    all.push(...events);
    place = next;
  }
}

/** Where a row is written to its end, a state may lose whether the next character wraps: texts end before it. */
const text = fc
  .tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 15 }), fc.string({ maxLength: 12 }))
  .map(([row, column, words]) => `\x1b[${row};${column}H${words.replace(/[\u0000-\u001f\u007f]/g, '')}`);
const output = fc.oneof(
  text,
  fc.constantFrom('\r\n', '\x1b[A', '\x1b[3;9H', '\x1b[K', '\x1b[J', '\x1b[7m', '\x1b[0m', '\x1b[31m'),
  fc.constantFrom('\x1b[L', '\x1b[M', '\x1b[P', '\x1b[?25l', '\x1b[?25h', '\b'),
);
const step = fc.record({
  afterMs: fc.oneof(fc.nat(30), fc.nat(4_000)),
  event: fc.array(output, { minLength: 1, maxLength: 4 }).map((texts) => ['o', texts.join('')] as const),
});

function castEvents(steps: readonly { afterMs: number; event: readonly ['o', string] }[]): CastEvent[] {
  let ms = 0;
  return steps.map(({ afterMs, event: [kind, text] }) => [(ms += afterMs) / 1000, kind, text]);
}

test('the screen at any moment, and all that is played after it, is that of a straight replay', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 40 }),
      fc.array(fc.nat(40_000), { minLength: 1, maxLength: 4 }),
      async (steps, moments) => {
        const file = await CastFile.create();
        const events = castEvents(steps);
        await file.head();
        await file.events(...events);
        const index = file.index(SMALL);
        await index.look();
        for (const ms of moments) {
          const before = events.filter(([seconds]) => Math.round(seconds * 1000) <= ms);
          const screen = await index.seek(ms);
          expect(await seen(screen)).toBe(await straight(before));
          expect(await seen(screen, await readAll(index, screen.next))).toBe(await straight(events));
        }
      },
    ),
    { numRuns: rounds(60) },
  );
});

test('a terminal that changes its size is shown in the size that it had', async () => {
  const file = await CastFile.create();
  await file.head();
  await file.events(
    [0.1, 'o', 'small'],
    [1, 'r', '50x12'],
    [1.1, 'o', '\x1b[2J\x1b[Hlarge'],
    [9, 'r', '10x3'],
  );
  const index = file.index(SMALL);
  await index.look();
  expect(await index.seek(500)).toMatchObject({ columns: 30, rows: 6 });
  expect(await index.seek(2_000)).toMatchObject({ columns: 50, rows: 12 });
  expect(await textAt(index, 2_000)).toContain('large');
  expect(await index.seek(9_000)).toMatchObject({ columns: 10, rows: 3, at_ms: 9_000 });
});

test('what was typed is neither shown nor passed on, and lines that are no events are left out', async () => {
  const file = await CastFile.create();
  await file.head();
  await file.events([0.1, 'o', 'one '], [0.2, 'i', 'a secret']);
  await file.raw('no JSON\n{"an":"object"}\n[1]\n["late","o","text"]\n[-1,"o","text"]\n[0.3,"r","0x0"]\n\n');
  await file.events([0.4, 'o', 'two'], [0.5, 'm', 'a marker']);
  const index = file.index();
  await index.look();
  const screen = await index.seek(0);
  expect(await readAll(index, screen.next)).toEqual([
    [100, 'output', 'one '],
    [400, 'output', 'two'],
  ]);
  expect(await textAt(index, 400)).toContain('one two');
});

test('a recording that grows is read on, and a line only once it is whole', async () => {
  const file = await CastFile.create();
  const index = file.index();
  await index.look();
  expect(index.progress).toMatchObject({ began_ms: null, ready_ms: 0 });
  await file.raw('{"version":2,');
  await index.look();
  expect(index.progress.began_ms).toBeNull();
  await file.raw('"width":30,"height":6,"timestamp":1700000000}\n[1,"o","fir');
  await index.look();
  expect(index.progress).toMatchObject({ began_ms: 1_700_000_000_000, ready_ms: 0 });
  await file.raw('st"]\n');
  await index.look();
  expect(await textAt(index, 1_000)).toContain('first');
  await file.events([2, 'o', ' second']);
  expect(await textAt(index, 2_000)).not.toContain('second');
  await index.look();
  expect(await textAt(index, 2_000)).toContain('first second');
  expect(index.progress.ready_ms).toBe(2_000);
});

test('a rotated recording is one: the state in its middle is not shown, and times go on', async () => {
  const file = await CastFile.create();
  await file.head();
  await file.events([0.5, 'o', 'older ']);
  await file.rotate(10_000, 'STATE');
  await file.events([0.5, 'o', 'newer']);
  const index = file.index(SMALL);
  await index.look();
  expect(await textAt(index, 10_000)).toMatch(/^older +/);
  const screen = await index.seek(0);
  const events = await readAll(index, screen.next);
  expect(events.filter(([, kind]) => kind === 'output')).toEqual([
    [500, 'output', 'older '],
    [10_500, 'output', 'newer'],
  ]);
  expect(await textAt(index, 10_500)).toContain('older newer');
});

test('what the recorder writes is followed over many rotations without a trace of them', async () => {
  const file = await CastFile.create();
  const recording = new TerminalRecording({
    path: file.path,
    maxBytes: 8_000,
    columns: COLUMNS,
    rows: ROWS,
    clock: systemClock,
    onError: (error) => {
      throw error;
    },
    state: () => 'A STATE THAT IS NOT SHOWN',
  });
  const index = file.index(SMALL);
  const all: CastEvent[] = [];
  for (let line = 0; line < 300; line++) {
    const text = `line ${line}\r\n`;
    all.push([0, 'o', text]);
    void recording.output(Buffer.from(text));
    await recording.flush();
    await index.look();
    if (line % 20 === 0) expect(await seen(await index.seek(Infinity))).toBe(await straight(all));
  }
  await recording.close();
  expect(index.progress.first_ms).toBeGreaterThan(0);
});

test('without its older part a recording begins with the state of the newer one', async () => {
  const file = await CastFile.create();
  await file.head();
  await file.events([0.5, 'o', 'older ']);
  await file.rotate(10_000, 'STATE ');
  await file.events([0.5, 'o', 'newer']);
  await rm(`${file.path}.1`);
  const index = file.index();
  await index.look();
  expect(index.progress).toMatchObject({ began_ms: BEGAN_MS + 10_000, first_ms: 0, ready_ms: 500 });
  expect(await textAt(index, 500)).toContain('STATE newer');
});

test('a recording that rotates while it is followed goes on, and what is gone is no longer offered', async () => {
  const file = await CastFile.create();
  await file.head();
  await file.events([1, 'o', 'one ']);
  const index = file.index(SMALL);
  await index.look();
  await file.events([2, 'o', 'end of one ']);
  await file.rotate(10_000, 'STATE');
  await file.events([1, 'o', 'two ']);
  await index.look();
  expect(await textAt(index, 11_000)).toContain('one end of one two');
  expect(index.progress).toMatchObject({ first_ms: 0, ready_ms: 11_000 });
  await file.rotate(20_000, 'STATE');
  await file.events([1, 'o', 'three']);
  await index.look();
  expect(await textAt(index, 21_000)).toContain('one end of one two three');
  expect(index.progress).toMatchObject({ first_ms: 10_000, ready_ms: 21_000 });
  expect(await index.seek(0)).toMatchObject({ at_ms: 10_000 });
});

test('a part that was never seen leaves a gap: what follows begins with its state', async () => {
  const file = await CastFile.create();
  await file.head();
  await file.events([1, 'o', 'one ']);
  const index = file.index(SMALL);
  await index.look();
  const { next } = await index.seek(1_000);
  await file.rotate(10_000, 'NEVER SEEN');
  await file.rotate(20_000, 'STATE OF TWO ');
  await file.events([1, 'o', 'two ']);
  await file.rotate(30_000, 'STATE OF THREE ');
  await file.events([1, 'o', 'three']);
  await index.look();
  expect(index.progress).toMatchObject({ first_ms: 20_000, ready_ms: 31_000 });
  expect(await textAt(index, 31_000)).toContain('STATE OF TWO two three');
  expect((await readAll(index, next)).map(([ms, kind]) => [ms, kind])).toEqual([
    [20_000, 'begin'],
    [20_000, 'output'],
    [21_000, 'output'],
    [30_000, 'resize'],
    [31_000, 'output'],
  ]);
});

test('pauses are where nothing was printed for more than two seconds', async () => {
  const file = await CastFile.create();
  await file.head();
  await file.events([1, 'o', 'a'], [3, 'o', 'b'], [3.5, 'i', 'typed'], [9, 'o', 'c'], [9.1, 'o', 'd']);
  const index = file.index();
  await index.look();
  expect(index.progress.pauses).toEqual([[3_000, 9_000]]);
});

test('key frames stay within their bound, and any moment is still shown', async () => {
  const file = await CastFile.create();
  await file.head();
  const events = Array.from({ length: 500 }, (_, at): CastEvent => [at, 'o', `line ${at}\r\n`]);
  await file.events(...events);
  const index = file.index({ everyChars: 10, everyMs: 1, maxChars: 2_000 });
  await index.look();
  expect(index.frames).toBeGreaterThan(2);
  expect(index.frames).toBeLessThan(100);
  for (const ms of [0, 77_000, 250_000, 499_000])
    expect(await textAt(index, ms)).toContain(`line ${ms / 1000}`);
});

test('a piece holds not much more than its bound, and the next one goes on behind it', async () => {
  const file = await CastFile.create();
  await file.head();
  const long = 'x'.repeat(100_000);
  const events = Array.from({ length: 9 }, (_, at): CastEvent => [at, 'o', `${at}${long}`]);
  await file.events(...events);
  const index = file.index();
  await index.look();
  const { events: piece, next } = await index.read((await index.seek(0)).next);
  expect(piece.length).toBeLessThan(4);
  expect(next.ms).toBe(piece.at(-1)?.[0]);
  expect(await readAll(index, next)).toHaveLength(8 - piece.length);
});
