// Pure.
import { FRAME_HEAD_BYTES, frameKinds } from './frame-kinds.js';

/** A binary message: bytes of a terminal with what they are. `offset` is the number of the first byte since the page subscribed. */
export function frameOf(
  kind: keyof typeof frameKinds,
  stream: number,
  offset: number,
  bytes: Uint8Array,
): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUInt8(frameKinds[kind], 0);
  head.writeUInt32BE(stream, 1);
  head.writeBigUInt64BE(BigInt(offset), 5);
  return Buffer.concat([head, bytes]);
}
