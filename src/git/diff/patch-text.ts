// Pure: the bytes that git prints as text, and the file name in the header of a patch.
import { isUtf8 } from 'node:buffer';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const CHARACTER_BYTES = [1, 2, 3, 4];
const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  t: '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
};

export interface ShownText {
  readonly text: string;
  /** True when the text contains `\xNN` for bytes that are not UTF-8. */
  readonly escaped: boolean;
}

/** Decodes UTF-8; every other byte becomes `\xNN`, so that different names stay different. */
export function shownBytes(bytes: Uint8Array): ShownText {
  if (isUtf8(bytes)) return { text: decoder.decode(bytes), escaped: false };
  let text = '';
  for (let at = 0; at < bytes.length;) {
    const ends = CHARACTER_BYTES.map((length) => at + length).filter((end) => end <= bytes.length);
    // The beginning of a character is not valid, so what is valid first is one character.
    const end = ends.find((one) => isUtf8(bytes.subarray(at, one)));
    const byte = (bytes[at] ?? 0).toString(16).padStart(2, '0');
    text += end === undefined ? `\\x${byte}` : decoder.decode(bytes.subarray(at, end));
    at = end ?? at + 1;
  }
  return { text, escaped: true };
}

/** The name in the lines above the first hunk, as bytes; undefined when they contain none. Prefixes are `a/` and `b/`. */
export function patchName(lines: readonly string[]): Buffer | undefined {
  const starting = (start: string): string | undefined =>
    lines.find((line) => line.startsWith(start))?.slice(start.length);
  const renamed = starting('rename to ') ?? starting('copy to ');
  if (renamed !== undefined) return unquoted(renamed);
  for (const name of [starting('+++ '), starting('--- ')])
    // A tab follows a name with spaces.
    if (name !== undefined && name !== '/dev/null')
      return unquoted(name.replace(/\t$/, '')).subarray('b/'.length);
  const first = lines[0] ?? '';
  const combined = /^diff --(?:cc|combined) (.*)$/s.exec(first)?.[1];
  if (combined !== undefined) return unquoted(combined);
  // `a/x b/x`: without a rename both halves are the same.
  const names = first.slice('diff --git '.length);
  const half = (names.length - 1) / 2;
  if (names[half] !== ' ') return undefined;
  const [old, now] = [names.slice(0, half), names.slice(half + 1)].map((name) => unquoted(name).subarray(2));
  return now !== undefined && old?.equals(now) === true ? now : undefined;
}

/** Decodes a name that git may have quoted, with octal escapes. The text has one byte per character. */
export function unquoted(name: string): Buffer {
  const inner = /^"(.*)"$/s.exec(name)?.[1];
  const text = inner?.replaceAll(/\\(?:([0-7]{3})|(.))/gs, (_, octal?: string, letter: string = '') =>
    octal === undefined ? (ESCAPES[letter] ?? letter) : String.fromCharCode(Number.parseInt(octal, 8)),
  );
  return Buffer.from(text ?? name, 'latin1');
}
