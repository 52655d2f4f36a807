import type { Clock } from '../base/clock.js';

/** Clients cut calls at 60 s: every call of this server is answered before. */
const CALL_LIMIT_MS = 45_000;

/** How much of its time a call has left. */
export class CallTime {
  readonly #clock: Clock;
  readonly #endMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#endMs = clock.monotonicMs() + CALL_LIMIT_MS;
  }

  /** At most `limitMs`, and less when the call is nearly over. */
  leftMs(limitMs = CALL_LIMIT_MS): number {
    return Math.max(0, Math.min(limitMs, this.#endMs - this.#clock.monotonicMs()));
  }
}
