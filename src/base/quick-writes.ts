import { writeSync } from 'node:fs';
import type { Clock } from './clock.js';

/** Bytes this many come of a flood; asking whether a write waited costs as much as a shorter one. */
export const LONG_WRITE_BYTES = 16 * 1024;
/** A write of 256 KB into the memory of the system takes 0.1 ms; one that took this long waited for a disk, or for the processor. */
const SLOW_WRITE_MS = 10;
/** After a slow write the disk is left to the background for so long: in a second a caller meets at most one more. */
const BACKGROUND_MS = 1_000;

export interface QuickWritesOptions {
  readonly clock: Clock;
  /** How often this program has waited for something so far; asked before and after a write, and left to the system by default. */
  readonly waits?: () => number;
}

/**
 * Writes to files on a disk of this machine (`isOnLocalDisk`) here and now: that is a copy in memory, for which waking a
 * thread takes longer than the copy. A disk that turns out slow is left to the background for a while.
 */
export class QuickWrites {
  readonly #clock: Clock;
  readonly #waits: () => number;
  #slowUntilMs = -Infinity;

  constructor({ clock, waits = systemWaits }: QuickWritesOptions) {
    this.#clock = clock;
    this.#waits = waits;
  }

  /** The disk has not been slow of late. */
  get isQuick(): boolean {
    return this.#clock.monotonicMs() >= this.#slowUntilMs;
  }

  /**
   * How many of the bytes are in the file behind `fd` now. Where that is not all of them, the disk refused the others: who
   * writes them again, in the background, meets the same fault there, and tells it.
   */
  write(fd: number, bytes: Uint8Array): number {
    const waitsBefore = bytes.length < LONG_WRITE_BYTES ? -1 : this.#waits();
    const startMs = this.#clock.monotonicMs();
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(fd, bytes, written);
    } catch {
      // Told by the next try, as said above.
    }
    const endMs = this.#clock.monotonicMs();
    // On a busy machine others have their turn in the middle of a write: that is no waiting, and no fault of the disk.
    if (endMs - startMs >= SLOW_WRITE_MS && this.#waits() > waitsBefore)
      this.#slowUntilMs = endMs + BACKGROUND_MS;
    return written;
  }
}

function systemWaits(): number {
  return process.resourceUsage().voluntaryContextSwitches;
}
