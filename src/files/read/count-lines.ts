import type { Clock } from '../../base/clock.js';
import type { OpenedPath } from '../../projects/opened-path.js';
import type { FileFactsCache } from './file-facts.js';
import { lastFeedEnd } from './line-feeds.js';
import { LineIndex, readFull } from './line-index.js';
import { markBytes, type TextEncoding } from './text-encoding.js';

/** Limit for counting the lines of a file for a page; in this time a disk reads a GB. */
const COUNT_LIMIT_MS = 1_000;

/** The cached index of the lines of a file, which grows with each use while the file is unchanged. */
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

/** The number of lines; null when the index does not reach the end of the file yet. */
export async function linesOf(opened: OpenedPath, index: LineIndex): Promise<number | null> {
  if (index.scannedBytes < index.size) return null;
  return index.newlines + (await tailLines(opened, index));
}

/** Counts the lines; null when it takes too long. The next call continues from there if the file is unchanged. */
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

/** 1 when text follows the last line end of a file. */
async function tailLines(opened: OpenedPath, index: LineIndex): Promise<0 | 1> {
  const { size, encoding } = index;
  if (size <= markBytes(encoding)) return 0;
  const last = Buffer.alloc(Math.min(2, size));
  const filled = await readFull(opened.handle, last, size - last.length, size);
  return lastFeedEnd(last.subarray(0, filled), encoding) === last.length ? 0 : 1;
}
