// Pure.

/** A change within one tick of a file system's clock leaves its times as they were; the longest ticks are two seconds. */
export const SETTLED_MS = 2_000;

/** True when what is changed from `nowMs` on gets other times than these. All are milliseconds since the epoch. */
export function isSettled(
  times: { readonly mtimeMs: number; readonly ctimeMs: number },
  nowMs: number,
): boolean {
  return Math.max(times.mtimeMs, times.ctimeMs) + SETTLED_MS < nowMs;
}
