import { Socket, type OnReadOpts } from 'node:net';
import type { OpenSource } from './output-source.js';

/** More than a pipe holds (64 KB): the event loop takes all of it with one read, and does not ask whether there is more. */
export const READ_BUFFER_BYTES = 128 * 1024;

/**
 * The reading end of a pipe, which is closed with the source. It is read into `buffer`, which all pipes of a backend share:
 * what was read is handed on before the next read, and one that waits holds no memory.
 */
export function fifoSource(fd: number, buffer: Uint8Array): OpenSource {
  const bytes = Buffer.from(buffer.buffer, buffer.byteOffset, buffer.length);
  return ({ take, closed }) => {
    const onread: OnReadOpts = { buffer, callback: (length) => take(bytes.subarray(0, length)) };
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
