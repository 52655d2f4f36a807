import type { BigIntStats } from 'node:fs';

/** What tells a file and its content from every other: equal stamps, equal bytes, unless changed within one clock tick. */
export function fileStamp(stats: BigIntStats): string {
  return [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs]
    .map((part) => part.toString(36))
    .join('-');
}
