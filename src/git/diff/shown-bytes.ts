// Pure: converts bytes from git to text.
import { isUtf8 } from 'node:buffer';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const CHARACTER_BYTES = [1, 2, 3, 4];

export interface ShownText {
  readonly text: string;
  /** True when the text contains `\xNN` for bytes that are not UTF-8. */
  readonly escaped: boolean;
}

/** Decodes UTF-8; every other byte becomes `\xNN`, so that different names stay different. */
export function shownBytes(bytes: Uint8Array): ShownText {
  const escaped = !isUtf8(bytes);
  return { text: escaped ? escapedText(bytes) : decoder.decode(bytes), escaped };
}

function escapedText(bytes: Uint8Array): string {
  let shown = '';
  for (let at = 0; at < bytes.length;) {
    const ends = CHARACTER_BYTES.map((length) => at + length).filter((end) => end <= bytes.length);
    // The beginning of a character is not valid, so what is valid first is one character.
    const end = ends.find((one) => isUtf8(bytes.subarray(at, one)));
    const byte = (bytes[at] ?? 0).toString(16).padStart(2, '0');
    shown += end === undefined ? `\\x${byte}` : decoder.decode(bytes.subarray(at, end));
    at = end ?? at + 1;
  }
  return shown;
}
