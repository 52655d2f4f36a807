// Pure: converts bytes from git to text.

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const FIRST_OTHER_BYTE = 0x80;

export interface ShownText {
  readonly text: string;
  /** True when the text contains `\xNN` for bytes that are not UTF-8. */
  readonly escaped: boolean;
}

/** Decodes UTF-8; every other byte becomes `\xNN`, so that different names stay different. */
export function shownBytes(bytes: Uint8Array): ShownText {
  try {
    return { text: strict.decode(bytes), escaped: false };
  } catch {
    // Only decoding shows that the bytes are not UTF-8.
    return { text: escapedText(bytes), escaped: true };
  }
}

function escapedText(bytes: Uint8Array): string {
  const pieces: string[] = [];
  let start = 0;
  while (start < bytes.length) {
    const length = characterBytes(bytes, start);
    let end = start;
    if (length === 0) {
      pieces.push(`\\x${(bytes[start] ?? 0).toString(16).padStart(2, '0')}`);
      start++;
      continue;
    }
    while (end < bytes.length) {
      const next = characterBytes(bytes, end);
      if (next === 0) break;
      end += next;
    }
    pieces.push(strict.decode(bytes.subarray(start, end)));
    start = end;
  }
  return pieces.join('');
}

/** Length in bytes of the UTF-8 character at `at`; 0 when there is none. */
function characterBytes(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? FIRST_OTHER_BYTE;
  if (first < FIRST_OTHER_BYTE) return 1;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  try {
    strict.decode(bytes.subarray(at, at + length));
    return length;
  } catch {
    // It is overlong, a surrogate, or above U+10FFFF.
    return 0;
  }
}
