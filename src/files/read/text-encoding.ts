// Pure: the encodings of text files, and their lines.
import { isUtf8 } from 'node:buffer';
import { wholeUtf8End } from '../../base/text.js';

export const textEncodings = ['utf-8', 'utf-8-bom', 'utf-16le', 'utf-16be', 'latin-1'] as const;
export type TextEncoding = (typeof textEncodings)[number];

/** The encoding of a file of at most this size is detected from all of it, of a larger one from its beginning. */
export const MAX_READ_BYTES = 1_048_576;
/** The beginning of a large file, from which its encoding is taken. */
export const SAMPLE_BYTES = 65_536;
/** Valid UTF-8 with one control character in this many is still text (field separators); with more it is binary. */
const CHARS_PER_CONTROL = 10;
/** Damaged UTF-8 (a truncated log, a dump of other bytes) has many whole characters for each broken one. */
const WHOLE_PER_BROKEN = 4;
/** Control characters that text does not contain: all except those from bell to carriage return, and escape. */
const CONTROLS = [...Array(0x20).keys(), 0x7f].filter((code) => code < 7 || (code > 13 && code !== 27));
export const LINE_FEED = 0x0a;

/**
 * The encoding of a text that begins with `sample`, or undefined when it is binary. `isWhole` is true when nothing follows.
 *
 * UTF-16 is recognized only by its byte order mark. In the other encodings a NUL byte means binary, which covers nearly every
 * binary format. Text that is not UTF-8 counts as Latin-1, in which every byte is valid, unless it contains control characters:
 * one of ten random bytes is one, but written text contains none.
 */
export function textEncodingOf(sample: Buffer, isWhole: boolean): TextEncoding | undefined {
  const [first, second, third] = sample;
  if (first === 0xff && second === 0xfe) return isUtf16(sample) ? 'utf-16le' : undefined;
  if (first === 0xfe && second === 0xff) return isUtf16(sample) ? 'utf-16be' : undefined;
  if (sample.includes(0)) return undefined;
  const bytes = isWhole ? sample : sample.subarray(0, wholeUtf8End(sample));
  // To search for each of them is a fifth of the work of one expression for all.
  const controls = CONTROLS.reduce((sum, code) => sum + countOf(bytes, code), 0);
  if (isUtf8(bytes)) {
    if (controls * CHARS_PER_CONTROL > bytes.length) return undefined;
    return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8-bom' : 'utf-8';
  }
  if (controls > 0) return undefined;
  const text = bytes.toString('utf8');
  const broken = text.match(/\ufffd/g)?.length ?? 0;
  const whole = text.match(/[^\u0000-\u007f\ufffd]/gu)?.length ?? 0;
  return whole > broken * WHOLE_PER_BROKEN ? 'utf-8' : 'latin-1';
}

function countOf(bytes: Buffer, code: number): number {
  let found = 0;
  for (let at = bytes.indexOf(code); at !== -1; at = bytes.indexOf(code, at + 1)) found++;
  return found;
}

/** False with a zero unit, which is not text; FF FE 00 00 begins UTF-32. */
function isUtf16(sample: Buffer): boolean {
  return !sample.toString('utf16le').slice(1).includes('\0');
}

/** The encoding in which a file of `size` bytes that begins with `bytes` is read and written. */
export function takenEncoding(bytes: Buffer, size: number): TextEncoding | undefined {
  return size > MAX_READ_BYTES
    ? textEncodingOf(bytes.subarray(0, SAMPLE_BYTES), false)
    : textEncodingOf(bytes, bytes.length >= size);
}

/** False for bytes, without a byte order mark, that `decodeText` shows as U+FFFD. */
export function isValidText(bytes: Buffer, encoding: TextEncoding): boolean {
  if (encoding === 'latin-1') return true;
  if (encoding.startsWith('utf-8')) return isUtf8(bytes);
  const units = Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2)));
  const text = (encoding === 'utf-16le' ? units : units.swap16()).toString('utf16le');
  return bytes.length % 2 === 0 && !/\p{Surrogate}/u.test(text);
}

/** What is said of a text with bytes that are not valid in the encoding of its file. */
export function misreadNote(encoding: TextEncoding): string {
  return `Some bytes here are not valid ${encoding}, in which the file was read; U+FFFD stands for them. The file may be in another encoding.`;
}

/** A file that says `text` in `encoding`, with its byte order mark, and a second one where `replaced` has two. See `unfit`. */
export function encodeText(text: string, encoding: TextEncoding, replaced: Buffer): Buffer {
  if (encoding === 'utf-8') return Buffer.from(text);
  if (encoding === 'latin-1') return Buffer.from(text, 'latin1');
  const isTwice = decodeText(replaced.subarray(0, 2 * markBytes(encoding)), encoding) === '\ufeff\ufeff';
  const marked = text.startsWith('\ufeff') && !isTwice ? text : `\ufeff${text}`;
  if (encoding === 'utf-8-bom') return Buffer.from(marked);
  const units = Buffer.from(marked, 'utf16le');
  return encoding === 'utf-16le' ? units : units.swap16();
}

/** The first character that a file in `encoding` cannot hold. */
export function unfit(text: string, encoding: TextEncoding): string | undefined {
  return encoding === 'latin-1' ? /[^\0-\u00ff]/u.exec(text)?.[0] : undefined;
}

/** Length of the byte order mark at the beginning of a file in `encoding`. */
export function markBytes(encoding: TextEncoding): number {
  if (encoding === 'utf-8-bom') return 3;
  return encoding.startsWith('utf-16') ? 2 : 0;
}

/** Decodes `bytes` without their byte order mark. Broken characters become U+FFFD. */
function decodeText(bytes: Buffer, encoding: TextEncoding): string {
  return decoderOf(encoding)(bytes, true);
}

/** Decodes a file piece by piece. */
function decoderOf(encoding: TextEncoding): (piece: Buffer, isLast: boolean) => string {
  if (encoding === 'latin-1') return (piece) => piece.toString('latin1');
  const label = encoding === 'utf-8-bom' ? 'utf-8' : encoding;
  const decoder = new TextDecoder(label, { ignoreBOM: true });
  return (piece, isLast) => decoder.decode(piece, { stream: !isLast });
}

/** Makes UTF-8 of the pieces of a file without its mark; what is in UTF-8 stays as it is, with what is broken in it. */
export function utf8Maker(encoding: TextEncoding): (piece: Buffer, isLast: boolean) => Buffer {
  if (encoding.startsWith('utf-8')) return (piece) => piece;
  const decode = decoderOf(encoding);
  return (piece, isLast) => Buffer.from(decode(piece, isLast));
}

/** The number of line feeds in UTF-8. A carriage return before one belongs to the line. */
export function feedsIn(piece: Buffer): number {
  return countOf(piece, LINE_FEED);
}
