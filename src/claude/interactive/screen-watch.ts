import type { Clock } from '../../base/clock.js';
import type { SessionEvent } from '../session.js';
import { readRetryLine, type RetryLine } from '../trouble/trouble-kind.js';
import { readRetryNotice, readScreenState, readStartTrouble, type ScreenLines } from './screen-state.js';

/** After an interrupt the footer may be one frame behind. */
const INTERRUPTED_STABLE_MS = 500;
/** First-start screens count when they are shown for this long: a theme picker may flash by. */
const TROUBLE_STABLE_MS = 1_500;

export interface ScreenWatchOptions {
  readonly clock: Clock;
  readonly fire: (event: SessionEvent) => void;
  readonly hooksLive: () => boolean;
  /** Requests another check soon, even without a new frame. */
  readonly checkAgain: () => void;
}

/** Where the session is in its turns; reads from the screen what no hook reports: trouble at the start, retries, interrupted turns. */
export class ScreenWatch {
  readonly #options: ScreenWatchOptions;
  #turn: 'before' | 'running' | 'over' = 'before';
  #interrupting = false;
  /** Since when the screen has shown what is waited for. */
  #since: { readonly what: string; readonly ms: number } | undefined;
  #retryNotice: string | undefined;
  #retry: RetryLine | undefined;
  #isTroubled = false;

  constructor(options: ScreenWatchOptions) {
    this.#options = options;
  }

  get turn(): 'before' | 'running' | 'over' {
    return this.#turn;
  }

  turnStarted(): void {
    this.#turn = 'running';
    this.#retry = undefined;
  }

  turnEnded(): void {
    this.#turn = 'over';
    this.#interrupting = false;
  }

  /** Esc was pressed: the turn is over when the screen is idle. */
  interrupted(): void {
    this.#interrupting = this.#turn === 'running';
    this.#since = undefined;
  }

  /** The session cannot go on; said once. */
  trouble(event: Omit<Extract<SessionEvent, { type: 'trouble' }>, 'type'>): void {
    if (this.#isTroubled) return;
    this.#isTroubled = true;
    this.#options.fire({ type: 'trouble', ...event });
  }

  /** The program has ended, and this is what it left on the screen. */
  exited(screen: ScreenLines): void {
    const trouble = this.#turn === 'before' ? readStartTrouble(screen) : undefined;
    if (trouble !== undefined) this.trouble(trouble);
  }

  check(screen: ScreenLines): void {
    this.#lookForRetries(screen);
    const trouble = this.#options.hooksLive() || this.#isTroubled ? undefined : readStartTrouble(screen);
    if (trouble !== undefined) {
      if (this.#isStable(trouble.kind, TROUBLE_STABLE_MS)) this.trouble(trouble);
    } else if (this.#interrupting && readScreenState(screen) === 'idle') {
      if (!this.#isStable('idle', INTERRUPTED_STABLE_MS)) return;
      this.turnEnded();
      const ended = { type: 'turn-ended', source: 'observed', message: '', backgroundTasks: 0 } as const;
      this.#options.fire({ ...ended, interrupted: true });
    } else this.#since = undefined;
  }

  /** Whether the screen has shown it for so long; else it is checked again. */
  #isStable(what: string, ms: number): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#since?.what !== what) this.#since = { what, ms: nowMs };
    const isStable = nowMs - this.#since.ms >= ms;
    if (!isStable) this.#options.checkAgain();
    return isStable;
  }

  #lookForRetries(screen: ScreenLines): void {
    const text = readRetryNotice(screen);
    if (text !== undefined && text !== this.#retryNotice) this.#reportRetry(text);
    this.#retryNotice = text;
  }

  /** The line counts down its seconds, so each attempt is reported once. */
  #reportRetry(text: string): void {
    const retry = readRetryLine(text);
    const before = this.#retry;
    this.#retry = retry;
    // If the seconds grow, this is another request's first attempt.
    const isSame = retry?.attempt === before?.attempt && (retry?.delayMs ?? 0) <= (before?.delayMs ?? 0);
    if (retry !== undefined && isSame) return;
    this.#options.fire({ type: 'notice', text });
    if (retry !== undefined) this.#options.fire({ type: 'retrying', text, source: 'observed', ...retry });
  }
}
