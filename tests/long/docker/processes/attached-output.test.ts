import fc from 'fast-check';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { AttachedOutput, FrameSplitter } from '../../../../src/processes/docker/attached-output.js';
import { Collector } from '../../../contracts/process-backend/under-test.js';

function frame(stream: 1 | 2, bytes: Uint8Array): Buffer {
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, bytes]);
}

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

  test('waits for a sink that is busy, and loses nothing', async () => {
    const sink = new Collector();
    let letGo = (): void => undefined;
    sink.hold = () => new Promise((resolve) => (letGo = resolve));
    const stream = new PassThrough({ highWaterMark: 1 });
    const output = new AttachedOutput(stream, sink, false);
    stream.write(Buffer.concat([frame(1, Buffer.from('one ')), frame(2, Buffer.from('two '))]));
    stream.end(frame(1, Buffer.from('three')));
    for (const expected of ['one ', 'one two ', 'one threetwo ']) {
      await sink.has(expected);
      expect(sink.all).toBe(expected);
      letGo();
    }
    await output.ended;
  });

  test('ends when it is cut', async () => {
    const stream = new PassThrough();
    const output = new AttachedOutput(stream, new Collector(), true);
    stream.destroy(new Error('cut'));
    await output.ended;
  });
});
