import type { Readable } from 'node:stream';
import type { OpenSource } from './output-source.js';
import type { PipeReader } from './pipe-reader.js';

/** A pipe that Node made, which is a pair of sockets on Linux and macOS. */
export function streamSource(stream: Readable, reader: PipeReader): OpenSource {
  return ({ take, closed }) => {
    const takeOrPause = (bytes: Buffer): boolean => {
      const goesOn = take(bytes);
      if (!goesOn) stream.pause();
      return goesOn;
    };
    stream.on('data', (chunk: Buffer) => reader.read(stream, chunk, takeOrPause));
    // Destroyed by `close`, or reset: `close` follows.
    stream.on('error', () => undefined);
    stream.once('close', closed);
    return { resume: () => void stream.resume(), close: () => void stream.destroy() };
  };
}
