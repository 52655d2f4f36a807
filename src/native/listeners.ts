import type { Clock } from '../base/clock.js';
import { BOARD_LOCK, boardPlace } from '../board/board-place.js';
import { Mutex } from '../store/mutex.js';
import { lastLookMs } from './last-look.js';

/** A client that waits calls again within seconds; one that asks now and then, within a minute. */
const RECENT_MS = 60_000;

export interface ListenersOptions {
  readonly statePath: string;
  readonly clock: Clock;
}

/** Whether anyone would see what a session asks: the board, or a client that read it, or looked for sessions, within the last minute. */
export class Listeners {
  readonly #options: ListenersOptions;
  #clientMs: number | undefined;

  constructor(options: ListenersOptions) {
    this.#options = options;
  }

  /** A client of the session connected or left. */
  client(): void {
    this.#clientMs = this.#options.clock.monotonicMs();
  }

  async isHeard(clientCount: number): Promise<boolean> {
    const { clock } = this.#options;
    if (clientCount > 0) return true;
    if (this.#clientMs !== undefined && clock.monotonicMs() - this.#clientMs < RECENT_MS) return true;
    return (await this.#hasLooked()) || this.#hasBoard();
  }

  async #hasLooked(): Promise<boolean> {
    const { statePath, clock } = this.#options;
    const lookedMs = await lastLookMs(statePath);
    return lookedMs !== undefined && clock.now() - lookedMs < RECENT_MS;
  }

  async #hasBoard(): Promise<boolean> {
    const { statePath } = this.#options;
    const { folder } = boardPlace(statePath);
    return (await new Mutex({ folder, name: BOARD_LOCK, statePath }).holder()) !== undefined;
  }
}
