import fc from 'fast-check';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { AttachedOutput } from '../../../../src/processes/docker/attached-output.js';
import { FrameSplitter } from '../../../../src/processes/docker/engine/frame-splitter.js';
import { Collector } from '../../../contracts/process-backend/under-test.js';

function frame(stream: 1 | 2, bytes: Uint8Array): Buffer {
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, bytes]);
}

/** What a sink gets of these chunks, after `release`. */
async function handedOn(chunks: readonly Buffer[], isTerminal = false) {
  const sink = new Collector();
  const stream = new PassThrough();
  const output = new AttachedOutput(stream, { sink, isTerminal });
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  await output.ended;
  const early = sink.all;
  const error = output.initFault;
  await output.release();
  return { sink, fault: error, early };
}

const NOT_FOUND = '[FATAL tini (7)] exec nope failed: No such file or directory\n';

describe('the stream of a container', () => {
  test('is taken apart whole and in order, wherever it is cut', () => {
    const frames = fc.array(fc.tuple(fc.constantFrom<1 | 2>(1, 2), fc.uint8Array({ maxLength: 40 })), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(frames, fc.array(fc.nat(500), { maxLength: 20 }), (rows, cuts) => {
        const all = Buffer.concat(rows.map(([stream, bytes]) => frame(stream, bytes)));
        const splitter = new FrameSplitter();
        const places = [0, ...cuts.map((cut) => Math.min(cut, all.length)).sort((a, b) => a - b), all.length];
        const pieces = places.slice(1).flatMap((to, at) => splitter.split(all.subarray(places[at], to)));
        const joined = (name: string) =>
          Buffer.concat(pieces.filter(({ stream }) => stream === name).map(({ bytes }) => bytes));
        const sent = (number: number) =>
          Buffer.concat(rows.filter(([stream]) => stream === number).map(([, bytes]) => bytes));
        expect(joined('stdout')).toEqual(sent(1));
        expect(joined('stderr')).toEqual(sent(2));
      }),
    );
  });

  test.each([
    ['a first part of init’s word', '[FATAL tini (7)] ex', false],
    ['init’s whole word', NOT_FOUND, true],
    ['what might have become init’s word', '[FATAL error', true],
    ['any output', 'x', true],
  ])('is a sign of the program or of there being none: %s', async (_what, text, isSign) => {
    const stream = new PassThrough();
    const output = new AttachedOutput(stream, { sink: new Collector(), isTerminal: false });
    let isSeen = false;
    void output.seen.then(() => (isSeen = true));
    stream.write(frame(2, Buffer.from(text)));
    await expect.poll(() => stream.readableLength).toBe(0);
    await Promise.resolve();
    expect(isSeen).toBe(isSign);
    stream.end();
    await output.seen;
  });

  test('waits for a sink that is busy, and loses nothing', async () => {
    const sink = new Collector();
    let letGo = (): void => undefined;
    sink.hold = () => new Promise((resolve) => (letGo = resolve));
    const stream = new PassThrough({ highWaterMark: 1 });
    const output = new AttachedOutput(stream, { sink, isTerminal: false });
    stream.write(Buffer.concat([frame(1, Buffer.from('one ')), frame(2, Buffer.from('two '))]));
    stream.end(frame(1, Buffer.from('three')));
    for (const expected of ['one ', 'one two ', 'one threetwo ']) {
      await sink.has(expected);
      expect(sink.all).toBe(expected);
      expect(stream.isPaused()).toBe(true);
      letGo();
    }
    await output.ended;
  });

  test.each([
    [
      'in pipes',
      [frame(2, Buffer.from(NOT_FOUND.slice(0, 17))), frame(2, Buffer.from(NOT_FOUND.slice(17)))],
      false,
    ],
    ['in a terminal', [Buffer.from(NOT_FOUND.replace('\n', '\r\n'))], true],
  ])('holds back the word of init on a program that is not there, %s', async (_name, chunks, isTerminal) => {
    const { fault, early } = await handedOn(chunks, isTerminal);
    expect(fault).toBe('No such file or directory');
    expect(early).toBe('');
  });

  test.each([
    ['text that only begins so', [frame(2, Buffer.from('[FATAL tini')), frame(2, Buffer.from(' was here'))]],
    ['the same on stdout', [frame(1, Buffer.from(NOT_FOUND))]],
    ['the same behind other text', [frame(2, Buffer.from(`x\n${NOT_FOUND}`))]],
  ])('hands on %s', async (_name, chunks) => {
    const { sink, fault, early } = await handedOn(chunks);
    const whole = Buffer.concat(chunks.map((chunk) => chunk.subarray(8))).toString();
    expect(fault).toBeUndefined();
    expect(early).toBe(whole);
    expect(sink.all).toBe(whole);
  });

  test('hands on what was held back when the program did run after all', async () => {
    const { sink } = await handedOn([frame(2, Buffer.from(NOT_FOUND))]);
    expect(sink.text('stderr')).toBe(NOT_FOUND);
  });

  test('ends when it is cut', async () => {
    const stream = new PassThrough();
    const output = new AttachedOutput(stream, { sink: new Collector(), isTerminal: true });
    stream.destroy(new Error('cut'));
    await output.ended;
    expect(output.isOver).toBe(true);
  });
});
