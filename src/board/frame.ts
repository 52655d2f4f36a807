// Pure: a binary message: bytes of a terminal with what they are.

/** The head of a binary frame: kind (1 byte), stream (4 bytes, big-endian), number of the first byte (8 bytes, big-endian). */
const HEAD_BYTES = 13;
/** `state` is for a terminal that was reset, `output` follows it or other output, `picture` draws over whatever is there. */
export const frameKinds = { state: 1, output: 2, picture: 3 } as const;

/** `offset` is the number of the first byte since the page subscribed. */
export interface TerminalBytes {
  readonly kind: number;
  readonly stream: number;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export function frameOf({ kind, stream, offset, bytes }: TerminalBytes): Uint8Array {
  const frame = new Uint8Array(HEAD_BYTES + bytes.length);
  const head = new DataView(frame.buffer);
  head.setUint8(0, kind);
  head.setUint32(1, stream);
  head.setBigUint64(5, BigInt(offset));
  frame.set(bytes, HEAD_BYTES);
  return frame;
}

/** Undefined for what is no frame. */
export function bytesIn(frame: Uint8Array): TerminalBytes | undefined {
  if (frame.length < HEAD_BYTES) return undefined;
  const head = new DataView(frame.buffer, frame.byteOffset);
  return {
    kind: head.getUint8(0),
    stream: head.getUint32(1),
    offset: Number(head.getBigUint64(5)),
    bytes: frame.subarray(HEAD_BYTES),
  };
}
