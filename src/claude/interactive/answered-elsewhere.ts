// Pure.
import { sleep, type Clock } from '../../base/clock.js';

/** Each check runs a program. */
const CHECK_INTERVAL_MS = 1_000;
/** A dialog that was not seen by then was answered before it could be. */
const SHOWN_LIMIT_MS = 5_000;

export interface AnsweredElsewhereOptions {
  readonly clock: Clock;
  /** The ids of the open requests of hooks. */
  readonly open: () => readonly string[];
  /** Whether Claude Code itself says that the session waits for its person; undefined where that is not known. */
  readonly isBlocked: () => Promise<boolean | undefined>;
  /** These requests were answered at another terminal. */
  readonly onAnswered: (requestIds: readonly string[]) => void;
}

/**
 * Notices that a person answered a request in another terminal: Claude Code leaves the connection of its hook open. The dialog's end on
 * the screen is only the reason to check: a program may paint over a dialog, so what Claude Code lists decides, twice: between two
 * dialogs the session does not wait either.
 */
export class AnsweredElsewhere {
  readonly #options: AnsweredElsewhereOptions;
  /** Requests whose dialog was on the screen. */
  readonly #shown = new Set<string>();
  /** When each open request was first checked (monotonic). */
  readonly #since = new Map<string, number>();
  #hasMenu = false;
  #isChecking = false;

  constructor(options: AnsweredElsewhereOptions) {
    this.#options = options;
  }

  /** The turn is over, so no dialog stands. */
  turnEnded(): void {
    for (const id of this.#options.open()) this.#shown.add(id);
    this.look(false);
  }

  /** Called when the screen may have changed. */
  look(hasMenu: boolean): void {
    this.#hasMenu = hasMenu;
    const { open: openNow, clock } = this.#options;
    const open = openNow();
    for (const id of open) this.#since.set(id, this.#since.get(id) ?? clock.monotonicMs());
    if (hasMenu) for (const id of open) this.#shown.add(id);
    if (open.length === 0) {
      this.#shown.clear();
      this.#since.clear();
    }
    if (hasMenu || this.#isChecking || this.#candidates().length === 0) return;
    this.#isChecking = true;
    this.#check()
      // What Claude Code does not say leaves the requests open.
      .catch(() => undefined)
      .finally(() => (this.#isChecking = false));
  }

  #candidates(): string[] {
    const { open, clock } = this.#options;
    const lateMs = clock.monotonicMs() - SHOWN_LIMIT_MS;
    return open().filter((id) => this.#shown.has(id) || (this.#since.get(id) ?? Infinity) <= lateMs);
  }

  async #check(): Promise<void> {
    const { clock, isBlocked, onAnswered } = this.#options;
    const asked = this.#candidates();
    const wasBlocked = await isBlocked();
    await sleep(clock, CHECK_INTERVAL_MS);
    if (wasBlocked !== false || this.#hasMenu || (await isBlocked()) !== false) return;
    const answered = this.#candidates().filter((id) => asked.includes(id));
    if (answered.length > 0) onAnswered(answered);
  }
}
