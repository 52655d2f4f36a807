// Pure: finds where UTF-8 characters end, and names that are not UTF-8.

/** The most bytes that a cut can leave of a UTF-8 character, which has at most four. */
const MAX_CUT_BYTES = 3;

/** True for a name in which Node replaced bytes that are not UTF-8: nothing can be opened by it. */
export function isReplacedName(name: string): boolean {
  return name.includes('\ufffd');
}

/** The length of the longest prefix of `bytes` that does not end inside a UTF-8 character. */
export function wholeUtf8End(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(MAX_CUT_BYTES, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
