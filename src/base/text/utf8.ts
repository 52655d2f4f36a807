// Pure: where characters end.

/** The longest character of UTF-8, less its first byte: what a cut can leave of it. */
const MAX_CUT_BYTES = 3;

/** The length of the longest beginning of `bytes` that does not end within a character of UTF-8. */
export function wholeUtf8End(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(MAX_CUT_BYTES, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
