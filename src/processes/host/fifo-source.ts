import { Socket, type OnReadOpts } from 'node:net';
import type { OpenSource } from './output-source.js';
import { WIDE_PIPE_BYTES } from './wide-pipes.js';

/** What a pipe holds when it is made. */
const PIPE_BYTES = 64 * 1024;
/** More than any pipe holds: the event loop takes all of it with one read, and does not ask whether there is more. */
export const READ_BUFFER_BYTES = WIDE_PIPE_BYTES + PIPE_BYTES;
/** A pipe that was found full so often (8 MB) makes its program wait for who reads it, and will again. */
const FLOOD_READS = 128;

/**
 * The reading end of a pipe, which is closed with the source. It is read into `buffer`, which all pipes of a backend share:
 * what was read is handed on before the next read, and one that waits holds no memory. `widen` is called once, with the pipe
 * of a program that prints faster than it is read.
 */
export function fifoSource(fd: number, buffer: Uint8Array, widen: (fd: number) => void): OpenSource {
  const bytes = Buffer.from(buffer.buffer, buffer.byteOffset, buffer.length);
  return ({ take, closed }) => {
    let fullReads = 0;
    const onread: OnReadOpts = {
      buffer,
      callback: (length) => {
        if (length >= PIPE_BYTES && ++fullReads === FLOOD_READS) widen(fd);
        return take(bytes.subarray(0, length));
      },
    };
    // Taken by the constructor as by `connect`, which alone tells it in its types.
    const options = { fd, readable: true, writable: false, onread };
    const socket = new Socket(options);
    // A read that fails closes it: `close` follows.
    socket.on('error', () => undefined);
    socket.once('close', closed);
    socket.resume();
    return { resume: () => void socket.resume(), close: () => void socket.destroy() };
  };
}
