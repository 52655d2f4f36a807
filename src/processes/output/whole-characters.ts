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
