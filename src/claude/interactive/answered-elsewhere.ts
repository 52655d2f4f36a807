import type { Clock } from '../../base/clock.js';

/** Each check runs a program. */
const CHECK_INTERVAL_MS = 1_000;

export interface AnsweredElsewhereOptions {
  readonly clock: Clock;
  /** A request of a hook is open. */
  readonly isWaiting: () => boolean;
  /** Whether Claude Code itself says that the session waits for its person; undefined where that is not known. */
  readonly isBlocked: () => Promise<boolean | undefined>;
  /** The open requests were answered at another terminal. */
  readonly onAnswered: () => void;
}

/**
 * Notices that a person answered a request in another terminal: Claude Code leaves the connection of its hook open. The dialog's end on
 * the screen is only the reason to check: a program may paint over a dialog, so what Claude Code lists decides.
 */
export class AnsweredElsewhere {
  readonly #options: AnsweredElsewhereOptions;
  #wasShown = false;
  #isChecking = false;
  #checkedMs = -Infinity;

  constructor(options: AnsweredElsewhereOptions) {
    this.#options = options;
  }

  /** The turn is over, so no dialog stands. */
  turnEnded(): void {
    this.#wasShown = true;
    this.look(false);
  }

  /** Called when the screen may have changed. */
  look(hasMenu: boolean): void {
    const { clock, isWaiting, isBlocked, onAnswered } = this.#options;
    if (!isWaiting() || hasMenu) {
      this.#wasShown = isWaiting();
      return;
    }
    const nowMs = clock.monotonicMs();
    if (!this.#wasShown || this.#isChecking || nowMs - this.#checkedMs < CHECK_INTERVAL_MS) return;
    this.#isChecking = true;
    this.#checkedMs = nowMs;
    isBlocked()
      .then(
        (blocked) => {
          if (blocked === false && isWaiting()) onAnswered();
        },
        // Not known: the request stays open.
        () => undefined,
      )
      .finally(() => (this.#isChecking = false));
  }
}
