import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FrameSplitter } from '../../../src/processes/docker/attached-output.js';

function frame(stream: 1 | 2, bytes: Uint8Array): Buffer {
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, bytes]);
}

test('the stream of a container is taken apart whole and in order, wherever it is cut', () => {
  const frames = fc.array(fc.tuple(fc.constantFrom<1 | 2>(1, 2), fc.uint8Array({ maxLength: 40 })), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(frames, fc.integer({ min: 1, max: 60 }), (rows, size) => {
      const all = Buffer.concat(rows.map(([stream, bytes]) => frame(stream, bytes)));
      const splitter = new FrameSplitter();
      const chunks = Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
        all.subarray(at * size, (at + 1) * size),
      );
      const pieces = chunks.flatMap((chunk) => splitter.split(chunk));
      for (const [name, number] of [
        ['stdout', 1],
        ['stderr', 2],
      ] as const) {
        const read = pieces.filter(({ stream }) => stream === name).map(({ bytes }) => bytes);
        const sent = rows.filter(([stream]) => stream === number).map(([, bytes]) => bytes);
        expect(Buffer.concat(read)).toEqual(Buffer.concat(sent));
      }
    }),
  );
});
