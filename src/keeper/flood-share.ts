import { readFileSync, writeFileSync } from 'node:fs';
import type { Clock } from '../base/clock.js';
import { systemCodeOf } from '../base/errors.js';
import type { Disposable } from '../base/lifecycle.js';

/** How much of the processor the processes of one session get beside other sessions, as a nice value (sched(7), autogroup). */
const SESSION_SHARE = '/proc/self/autogroup';
/** About a sixth of an ordinary session's share. */
export const FLOOD_NICE = 8;
/** Printed within a second it is a flood: a screen that is redrawn ten times a second is a tenth of it. */
const FLOOD_BYTES = 512 * 1024;
const LOOK_MS = 1_000;
/** Seconds without a flood after which it is over. */
const CALM_LOOKS = 5;

/** What became of a wish for another share: the kernel takes few in a second, and may not know shares at all. */
export type ShareOutcome = 'done' | 'busy' | 'unable';

export interface FloodShareOptions {
  readonly clock: Clock;
  /** The session's nice value; undefined where sessions have none. */
  readonly read?: () => number | undefined;
  readonly write?: (nice: number) => ShareOutcome;
}

/**
 * Takes less of the processor while the agent floods its terminal, so that servers, at which somebody waits for an answer, go first:
 * beside twenty such keepers a call takes as long as beside one. The agent has a session of its own and keeps its share.
 */
export class FloodShare implements Disposable {
  readonly #clock: Clock;
  readonly #write: (nice: number) => ShareOutcome;
  readonly #ordinaryNice: number | undefined;
  #givenNice: number | undefined;
  #isFlood = false;
  /** Since the last look. */
  #bytes = 0;
  #calmLooks = 0;
  #timer: Disposable | undefined;

  constructor({ clock, read = readShare, write = writeShare }: FloodShareOptions) {
    this.#clock = clock;
    this.#write = write;
    this.#ordinaryNice = this.#givenNice = read();
  }

  /** The agent printed so many bytes. */
  printed(bytes: number): void {
    const ordinaryNice = this.#ordinaryNice;
    if (ordinaryNice === undefined) return;
    this.#bytes += bytes;
    if (this.#bytes >= FLOOD_BYTES && !this.#isFlood) {
      this.#isFlood = true;
      this.#give(ordinaryNice + FLOOD_NICE);
    }
    this.#timer ??= this.#clock.after(LOOK_MS, () => this.#look(ordinaryNice));
  }

  dispose(): void {
    this.#timer?.dispose();
  }

  #look(ordinaryNice: number): void {
    this.#calmLooks = this.#bytes >= FLOOD_BYTES ? 0 : this.#calmLooks + 1;
    this.#bytes = 0;
    if (this.#calmLooks >= CALM_LOOKS) this.#isFlood = false;
    this.#give(this.#isFlood ? ordinaryNice + FLOOD_NICE : ordinaryNice);
    const isOver = !this.#isFlood && this.#givenNice === ordinaryNice;
    this.#timer = isOver ? undefined : this.#clock.after(LOOK_MS, () => this.#look(ordinaryNice));
  }

  /** What the kernel does not take now is asked for again at the next look. */
  #give(nice: number): void {
    if (this.#givenNice === nice) return;
    if (this.#write(nice) !== 'busy') this.#givenNice = nice;
  }
}

function readShare(): number | undefined {
  try {
    const nice = /nice (-?\d+)/.exec(readFileSync(SESSION_SHARE, 'latin1'))?.[1];
    return nice === undefined ? undefined : Number(nice);
  } catch (fault) {
    // Another system, or a kernel without it.
    if (systemCodeOf(fault) === undefined) throw fault;
    return undefined;
  }
}

function writeShare(nice: number): ShareOutcome {
  try {
    writeFileSync(SESSION_SHARE, String(nice));
    return 'done';
  } catch (fault) {
    const code = systemCodeOf(fault);
    if (code === undefined) throw fault;
    return code === 'EAGAIN' ? 'busy' : 'unable';
  }
}
