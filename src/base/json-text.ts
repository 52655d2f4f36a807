import { endianness } from 'node:os';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const DIGIT_0 = 0x30;
/** One byte becomes at most `\u001b`. */
export const MAX_ESCAPED_BYTES = 6;

const HEX_DIGITS = Buffer.from('0123456789abcdef');
/** Behind the backslash for each byte that cannot stand in a JSON string as it is; `u` means four digits follow; 0 for all others. */
export const ESCAPES = new Uint8Array(256).fill(LETTER_U, 0, 0x20);
for (const [byte, letter] of ['\bb', '\tt', '\nn', '\ff', '\rr', '""', '\\\\'].map((pair) =>
  Buffer.from(pair),
)) {
  if (byte !== undefined && letter !== undefined) ESCAPES[byte] = letter;
}
const IS_LITTLE_ENDIAN = endianness() === 'LE';

/**
 * Writes valid UTF-8 as the inside of a JSON string. Works on bytes, four at a time: `JSON.stringify` of the decoded text
 * takes 3 to 8 times as long, which a terminal that floods cannot spare.
 *
 * `words` is a view of the same memory as `bytes`, and `from` a multiple of four; `target` has room for MAX_ESCAPED_BYTES a
 * byte. What is between `from` and `to` is written from `at` on; the end of it is returned.
 */
export function writeJsonText(
  source: { readonly bytes: Uint8Array; readonly words: Uint32Array },
  from: number,
  to: number,
  target: { readonly bytes: Uint8Array; readonly view: DataView },
  at: number,
): number {
  const { bytes, words } = source;
  const lastWord = IS_LITTLE_ENDIAN ? to >>> 2 : from >>> 2;
  let end = at;
  for (let index = from >>> 2; index < lastWord; index++) {
    const word = words[index] ?? 0;
    if (isPlain(word)) {
      target.view.setUint32(end, word, true);
      end += 4;
    } else {
      end = writeByte(target.bytes, end, word & 0xff);
      end = writeByte(target.bytes, end, (word >>> 8) & 0xff);
      end = writeByte(target.bytes, end, (word >>> 16) & 0xff);
      end = writeByte(target.bytes, end, word >>> 24);
    }
  }
  for (let index = lastWord * 4; index < to; index++) end = writeByte(target.bytes, end, bytes[index] ?? 0);
  return end;
}

/**
 * No byte of the word is a control character, a quote or a backslash. "Has a byte below n" is
 * `(w - n·0x01010101) & ~w & 0x80808080` (https://graphics.stanford.edu/~seander/bithacks.html#HasLessInWord).
 */
function isPlain(word: number): boolean {
  const quotes = word ^ (QUOTE * 0x01010101);
  const slashes = word ^ (BACKSLASH * 0x01010101);
  const found =
    ((word - 0x20202020) & ~word) | ((quotes - 0x01010101) & ~quotes) | ((slashes - 0x01010101) & ~slashes);
  return (found & 0x80808080) === 0;
}

function writeByte(target: Uint8Array, at: number, byte: number): number {
  const escape = ESCAPES[byte] ?? 0;
  if (escape === 0) {
    target[at] = byte;
    return at + 1;
  }
  target[at] = BACKSLASH;
  target[at + 1] = escape;
  if (escape !== LETTER_U) return at + 2;
  target[at + 2] = DIGIT_0;
  target[at + 3] = DIGIT_0;
  target[at + 4] = DIGIT_0 + (byte >>> 4);
  target[at + 5] = HEX_DIGITS[byte & 0xf] ?? DIGIT_0;
  return at + MAX_ESCAPED_BYTES;
}

/** How many bytes at the end of `bytes` begin a UTF-8 character that is not complete. */
export function incompleteTail(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
}
