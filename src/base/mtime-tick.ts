/** A second change within one tick of a file system's clock does not change the times; the longest tick is two seconds. */
export const MTIME_TICK_MS = 2_000;

/** True when any change from `nowMs` on will change these times. All are milliseconds since the epoch. */
export function isOlderThanTick(
  times: { readonly mtimeMs: number; readonly ctimeMs: number },
  nowMs: number,
): boolean {
  return Math.max(times.mtimeMs, times.ctimeMs) + MTIME_TICK_MS < nowMs;
}
