import { unitBytes, type TextEncoding } from './text-encoding.js';

// Pure: counts line ends in a piece of a file.

/** Counts the line feeds in `bytes`, which must begin at a unit of the encoding. */
export function countNewlines(bytes: Buffer, encoding: TextEncoding): number {
  if (unitBytes(encoding) === 2) return countWide(bytes, encoding === 'utf-16le' ? 0 : 1);
  let total = 0;
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) total++;
  return total;
}

function countWide(bytes: Buffer, feedAt: 0 | 1): number {
  let total = 0;
  for (let at = 0; at + 1 < bytes.length; at += 2)
    if (bytes[at + feedAt] === 0x0a && bytes[at + 1 - feedAt] === 0) total++;
  return total;
}
