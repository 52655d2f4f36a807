import type { Clock } from '../../base/clock.js';
import type { OpenedPath } from '../../projects/opened-path.js';
import type { FileFactsCache } from './file-facts.js';
import { lastFeedEnd } from './line-feeds.js';
import { LineIndex, readFull } from './line-index.js';
import { markBytes, type TextEncoding } from './text-encoding.js';

/** A page does not wait longer for the number of lines of its file: a disk has read a GB by then. */
const COUNT_LIMIT_MS = 1_000;

/** What is known of where the lines of a file are; it grows with each use as long as the file stays as it is. */
export async function indexOf(
  opened: OpenedPath,
  cache: FileFactsCache,
  encodingOf: () => Promise<TextEncoding>,
): Promise<LineIndex> {
  const known = cache.get(opened.stats);
  if (known?.index !== undefined) return known.index;
  const encoding = known?.encoding ?? (await encodingOf());
  const index = new LineIndex(Number(opened.stats.size), encoding);
  cache.set(opened.stats, { ...known, encoding, index });
  return index;
}

/** Null where the index does not reach the end of the file yet. */
export async function linesOf(opened: OpenedPath, index: LineIndex): Promise<number | null> {
  if (index.scannedBytes < index.size) return null;
  return index.newlines + (await tailLines(opened, index));
}

/** Null where counting takes too long; the next call goes on from there, as long as the file stays as it is. */
export async function countLines(
  opened: OpenedPath,
  {
    cache,
    clock,
    encoding,
  }: { readonly cache: FileFactsCache; readonly clock: Clock; readonly encoding: TextEncoding },
): Promise<number | null> {
  const index = await indexOf(opened, cache, () => Promise.resolve(encoding));
  const untilMs = clock.monotonicMs() + COUNT_LIMIT_MS;
  await index.scan(opened.handle, () => clock.monotonicMs() > untilMs);
  return linesOf(opened, index);
}

/** 1 when something follows the last line end of a file. */
async function tailLines(opened: OpenedPath, index: LineIndex): Promise<0 | 1> {
  const { size, encoding } = index;
  if (size <= markBytes(encoding)) return 0;
  const last = Buffer.alloc(Math.min(2, size));
  const filled = await readFull(opened.handle, last, size - last.length, size);
  return lastFeedEnd(last.subarray(0, filled), encoding) === last.length ? 0 : 1;
}
