import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { openTaskFiles } from '../keeper/open-task-files.js';
import { rounds } from '../harness/rounds.js';
import { tempFolder } from '../harness/temp-folder.js';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await tempFolder();
});

const headerSchema = z.object({
  version: z.literal(2),
  width: z.number(),
  height: z.number(),
  timestamp: z.number(),
  began_ms: z.number(),
});
const eventSchema = z.tuple([z.number().nonnegative(), z.enum(['o', 'i', 'r']), z.string()]);

/** The recording of a task; each new part of it begins with what `state` gives. */
async function open(maxBytes = 10_000_000, state?: () => string) {
  await rm(folder, { recursive: true, force: true });
  const opened = await openTaskFiles({ statePath: folder, logFile: join(folder, 'log'), maxBytes });
  path = opened.recordingFile;
  if (state !== undefined) opened.files.screenStateFrom(state);
  return opened.files.recording;
}

async function parseCast(name: string) {
  const lines = (await readFile(name, 'utf8')).trimEnd().split('\n');
  const header = headerSchema.parse(JSON.parse(lines[0] ?? ''));
  const events = lines.slice(1).map((line) => eventSchema.parse(JSON.parse(line)));
  const output = events.filter(([, kind]) => kind === 'o').map(([, , text]) => text);
  return { header, events, output: output.join('') };
}

it('output, input and sizes are recorded in order', async () => {
  const recording = await open();
  void recording.output(Buffer.from('hello '));
  void recording.output(Buffer.from('world\r\n'));
  recording.typed('y\r');
  recording.resized(100, 30);
  void recording.output(Buffer.from('\x1b[31m"red"\\\t\x7f\x00'));
  await recording.close();
  const { header, events } = await parseCast(path);
  expect(header).toMatchObject({ width: 120, height: 40, timestamp: Math.floor(header.began_ms / 1000) });
  expect(events.map(([, kind, text]) => [kind, text])).toEqual([
    ['o', 'hello world\r\n'],
    ['i', 'y\r'],
    ['r', '100x30'],
    ['o', '\x1b[31m"red"\\\t\x7f\x00'],
  ]);
});

it('any text is recorded unchanged, however its bytes are split', async () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 1 }),
      fc.constantFrom('\x1b', '"', '\\', '\r\n', '\x00'),
    ),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(text), fc.integer({ min: 1, max: 5 }), async (parts, size) => {
      const bytes = Buffer.from(parts.join(''));
      const recording = await open(1000);
      const isKept = bytes.length < 30;
      for (let at = 0; at < bytes.length; at += size) void recording.output(bytes.subarray(at, at + size));
      await recording.close();
      if (bytes.length > 0 && isKept) expect((await parseCast(path)).output).toBe(bytes.toString());
      if (bytes.length > 0) expect(bytes.toString().endsWith((await parseCast(path)).output)).toBe(true);
    }),
    { numRuns: rounds(60) },
  );
});

it('a rotated file begins with the current screen, so that it plays on its own; the first one does not', async () => {
  let shown = 'not yet asked for';
  const recording = await open(8_000, () => shown);
  void recording.output(Buffer.from('first '));
  await recording.flush();
  expect((await parseCast(path)).events[0]).toMatchObject([0, 'o', 'first ']);
  shown = '\x1b[?1049h\x1b[?25l\x1b[?2004h';
  for (let count = 0; count < 120; count++)
    void recording.output(Buffer.from(`${count} ${'x'.repeat(80)}\r\n`));
  await recording.close();
  for (const name of [path, `${path}.1`]) {
    const { header, events } = await parseCast(name);
    expect(header.width).toBe(120);
    expect(events[0]).toEqual([0, 'o', shown]);
    expect(events.length).toBeGreaterThan(1);
  }
});

it('a removed recording begins again with the current screen', async () => {
  const recording = await open(8_000, () => 'what was shown');
  void recording.output(Buffer.from('before'));
  expect(await recording.flush()).toBe('written');
  await rm(path);
  expect(await recording.flush()).toBe('removed');
  void recording.output(Buffer.from('after'));
  await recording.close();
  expect((await parseCast(path)).events.map(([, , text]) => text)).toEqual(['what was shown', 'after']);
});
