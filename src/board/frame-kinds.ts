// Pure: the form of a binary message. The board's process and the page share this file.

/** The head of a binary frame: kind (1 byte), stream (4 bytes, big-endian), number of the first byte (8 bytes, big-endian). */
export const FRAME_HEAD_BYTES = 13;
/** `state` is for a terminal that was reset, `output` follows it or other output, `picture` draws over whatever is there. */
export const frameKinds = { state: 1, output: 2, picture: 3 } as const;
