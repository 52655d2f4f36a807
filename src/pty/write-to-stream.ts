import type { Writable } from 'node:stream';
import type { WriteResult } from './child.js';

/** With so much unread input no more is taken: a program that never reads must not fill the memory. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;

/** Queues input of a child in a stream. `onWritten` is called when the stream has passed it on, or could not. */
export function writeToStream(
  stream: Writable,
  data: string | Uint8Array,
  onWritten?: (error: Error | null | undefined) => void,
): WriteResult {
  if (!stream.writable) return 'closed';
  if (stream.writableLength > MAX_UNREAD_BYTES) return 'full';
  stream.write(Buffer.from(data), onWritten);
  return 'taken';
}
