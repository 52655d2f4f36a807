import type { BigIntStats } from 'node:fs';

/** Identifies a file and its content: equal stamps mean equal bytes, unless the file changed within one clock tick. */
export function fileStamp(stats: BigIntStats): string {
  return [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs]
    .map((part) => part.toString(36))
    .join('-');
}
