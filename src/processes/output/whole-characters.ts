// Pure: pieces of a stream cut between characters.

/** The longest character of UTF-8. */
const MAX_CHARACTER_BYTES = 4;

/** How many bytes at the beginning belong to a character that began before: none unless the piece was cut there. */
export function tornStart(bytes: Uint8Array): number {
  let count = 0;
  while (count < MAX_CHARACTER_BYTES && isContinuation(bytes[count])) count++;
  // More than a character can have: it is no UTF-8, and nothing was torn.
  return count === MAX_CHARACTER_BYTES ? 0 : count;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** How many bytes at the end of `bytes` begin a UTF-8 character that is not complete. */
export function incompleteTail(bytes: Uint8Array): number {
  for (let back = 1; back < MAX_CHARACTER_BYTES && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
}
