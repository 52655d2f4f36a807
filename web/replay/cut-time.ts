// Pure: the time of a recording with its pauses cut.

/** Where nothing was printed, in milliseconds since the beginning of the recording. */
export type Pause = readonly [fromMs: number, toMs: number];

/** Longer than this nothing was printed: a pause. */
export const PAUSE_MS = 2_000;
/** What is left of a pause when it is cut. */
export const CUT_PAUSE_MS = 500;

/** How long it takes to show everything before `atMs`. */
export function cutTime(pauses: readonly Pause[], atMs: number): number {
  let cut = 0;
  for (const [from, to] of pauses) {
    if (atMs <= from) break;
    const share = (Math.min(atMs, to) - from) / (to - from);
    cut += (to - from - CUT_PAUSE_MS) * share;
  }
  return atMs - cut;
}

/** The moment that is shown after `shownMs`: the inverse of `cutTime`. */
export function momentAt(pauses: readonly Pause[], shownMs: number): number {
  let cut = 0;
  for (const [from, to] of pauses) {
    const inside = shownMs - (from - cut);
    if (inside <= 0) break;
    if (inside < CUT_PAUSE_MS) return from + (inside / CUT_PAUSE_MS) * (to - from);
    cut += to - from - CUT_PAUSE_MS;
  }
  return shownMs + cut;
}
