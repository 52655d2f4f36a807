import { unitBytes, type TextEncoding } from './text-encoding.js';

// Pure: finds line ends. A line ends with a line feed; a carriage return before it belongs to the line.

/** The offset after the next line feed in `piece`, which must begin at a unit of the encoding. */
export function feedAfter(piece: Buffer, from: number, encoding: TextEncoding): number | undefined {
  if (unitBytes(encoding) === 1) {
    const at = piece.indexOf(0x0a, from);
    return at === -1 ? undefined : at + 1;
  }
  for (let at = from; at + 1 < piece.length; at += 2) if (isWideFeed(piece, at, encoding)) return at + 2;
  return undefined;
}

/** The offset after the last line feed in `piece`; 0 when there is none. */
export function lastFeedEnd(piece: Buffer, encoding: TextEncoding): number {
  if (unitBytes(encoding) === 1) return piece.lastIndexOf(0x0a) + 1;
  for (let end = piece.length - (piece.length % 2); end >= 2; end -= 2)
    if (isWideFeed(piece, end - 2, encoding)) return end;
  return 0;
}

function isWideFeed(piece: Buffer, at: number, encoding: TextEncoding): boolean {
  return piece.readUInt16BE(at) === (encoding === 'utf-16le' ? 0x0a00 : 0x000a);
}

/** Counts the line feeds in `piece`, which must begin at a unit of the encoding. */
export function countNewlines(piece: Buffer, encoding: TextEncoding): number {
  let total = 0;
  for (let at = feedAfter(piece, 0, encoding); at !== undefined; at = feedAfter(piece, at, encoding)) total++;
  return total;
}
