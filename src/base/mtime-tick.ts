/** A second change within one tick of a file system's clock does not change the times; the longest tick is two seconds. */
export const MTIME_TICK_MS = 2_000;
