// Pure.
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/lifecycle.js';
import type { SessionStatus } from './session-status.js';

const LOOK_INTERVAL_MS = 300;
/** Between two dialogs a session is busy for a moment. */
const SURE_LOOKS = 2;

/** Looks, while dialogs stand, whether the session still waits: no hook says that a person answered. */
export class TerminalWatch implements Disposable {
  readonly #clock: Clock;
  readonly #status: Pick<SessionStatus, 'read'>;
  readonly #onWentOn: () => void;
  #timer: Disposable | undefined;
  #isRunning = false;
  /** The session was seen to wait: before that, its status is of the time before the dialog. */
  #hasWaited = false;
  #looks = 0;

  constructor(clock: Clock, status: Pick<SessionStatus, 'read'>, onWentOn: () => void) {
    this.#clock = clock;
    this.#status = status;
    this.#onWentOn = onWentOn;
  }

  /** A dialog stands. */
  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#hasWaited = false;
    this.#looks = 0;
    this.#arm();
  }

  /** No dialog stands any more. */
  stop(): void {
    this.#isRunning = false;
    this.#timer?.dispose();
  }

  /** Whether the session has gone on since the dialogs came; false where that is not known. */
  async wentOn(): Promise<boolean> {
    const status = await this.#status.read();
    return this.#hasWaited && status === 'other';
  }

  dispose(): void {
    this.stop();
  }

  #arm(): void {
    this.#timer = this.#clock.after(LOOK_INTERVAL_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    const status = await this.#status.read();
    if (!this.#isRunning) return;
    if (status === 'waiting') this.#hasWaited = true;
    this.#looks = this.#hasWaited && status === 'other' ? this.#looks + 1 : 0;
    if (this.#looks >= SURE_LOOKS) {
      this.stop();
      this.#onWentOn();
      return;
    }
    this.#arm();
  }
}
