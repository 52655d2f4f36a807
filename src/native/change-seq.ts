const MS_PER_SEQ = 100;

/**
 * The number of a change at a time in milliseconds since the epoch. It is greater than that of any change before, whichever
 * process saw it, and short enough for a cursor.
 */
export function changeSeqAt(ms: number): number {
  return Math.floor(ms / MS_PER_SEQ);
}
