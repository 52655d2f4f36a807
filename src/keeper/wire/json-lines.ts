// Pure.
import type { Duplex } from 'node:stream';
import { isDeepJson } from '../../base/input.js';

/** The longest line is the input of a process: a million characters, of which JSON may write each as six. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;

/**
 * Calls `onLine` with each parsed line of a socket. A line that is too long, nests too deeply or is not JSON closes the
 * connection: no server and no keeper writes such a line.
 */
export function readJsonLines(socket: Duplex, onLine: (value: unknown) => void): void {
  let rest: Buffer[] = [];
  let restBytes = 0;
  socket.on('data', (chunk: Buffer) => {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      const line = Buffer.concat([...rest, chunk.subarray(from, end)]);
      rest = [];
      restBytes = 0;
      from = end + 1;
      let value: unknown;
      try {
        if (isDeepJson(line)) throw new Error('a line of the keeper socket nested too deeply');
        value = JSON.parse(line.toString('utf8'));
      } catch (error) {
        socket.destroy(error instanceof Error ? error : undefined);
        return;
      }
      onLine(value);
      // The line made the listener close the connection: the rest is not read.
      if (socket.destroyed) return;
    }
    if (from < chunk.length) {
      rest.push(chunk.subarray(from));
      restBytes += chunk.length - from;
      if (restBytes > MAX_LINE_BYTES) socket.destroy(new Error('a line of the keeper socket was too long'));
    }
  });
}

export function writeJsonLine(socket: Duplex, value: unknown): void {
  if (!socket.destroyed && socket.writable) socket.write(`${JSON.stringify(value)}\n`);
}
