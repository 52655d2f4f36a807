import type { Clock } from '../../base/clock.js';
import type { SessionEvent, TroubleKind } from '../session.js';
import { readRetryLine, type RetryLine } from '../trouble/trouble-kind.js';
import {
  readFailedConnection,
  readRetryNotice,
  readScreenState,
  type ScreenLines,
  type ScreenState,
} from './screen-state.js';

/** After an interrupt the footer may be one frame behind. */
const INTERRUPTED_STABLE_MS = 500;
/** First-start screens count when they are shown for this long: a theme picker may flash by. */
const TROUBLE_STABLE_MS = 1_500;

const LOST =
  'Claude Code has begun to work without telling the bridge. Its settings for this session, hooks and rules, are not used, so it was ended.';

const troubles: Partial<Record<ScreenState, { readonly kind: TroubleKind; readonly text: string }>> = {
  onboarding: {
    kind: 'onboarding',
    text: 'Claude Code shows its first-start screens. Run `claude` once in a terminal, finish them, and start the task again.',
  },
  login: {
    kind: 'not-logged-in',
    text: 'Claude Code is not logged in. Run `claude` once in a terminal and log in, then start the task again.',
  },
  unreachable: {
    kind: 'network',
    text: 'Claude Code could not connect to its service. Check the network (and HTTPS_PROXY, ANTHROPIC_BASE_URL), then start the task again.',
  },
};

function troubleOn(
  screen: ScreenLines,
  state: ScreenState,
): { readonly kind: TroubleKind; readonly text: string } | undefined {
  const trouble = troubles[state];
  const why = state === 'unreachable' ? readFailedConnection(screen) : undefined;
  if (trouble === undefined || why === undefined) return trouble;
  return { ...trouble, text: trouble.text.replace('its service.', `its service: ${why}.`) };
}

export interface ScreenWatchOptions {
  readonly clock: Clock;
  readonly fire: (event: SessionEvent) => void;
  readonly hooksLive: () => boolean;
  /** Requests another check soon, even without a new frame. */
  readonly checkAgain: () => void;
}

/** Reads from the screen what no hook reports: trouble at the start, retries, interrupted turns. */
export class ScreenWatch {
  readonly #options: ScreenWatchOptions;
  #turn: 'before' | 'running' | 'over' = 'before';
  #interrupting = false;
  #stateSince: { readonly state: ScreenState; readonly sinceMs: number } | undefined;
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
    this.#stateSince = undefined;
  }

  /**
   * A turn has begun of which no hook has told, as each does before the model is asked. One invalid value, and Claude Code drops all
   * settings without a word: hooks and rules (2.1.330).
   */
  turnSeen(): void {
    if (this.#options.hooksLive() || this.#isTroubled) return;
    this.#isTroubled = true;
    this.#options.fire({ type: 'trouble', kind: 'settings-lost', text: LOST });
  }

  turnEnded(): void {
    this.#turn = 'over';
    this.#interrupting = false;
    this.#stateSince = undefined;
  }

  /** Esc was pressed: the turn is over when the screen is idle. */
  interrupted(): void {
    this.#interrupting = this.#turn === 'running';
    this.#stateSince = undefined;
  }

  /** The program has ended, and this is what it left on the screen. */
  exited(screen: ScreenLines): void {
    const trouble = troubleOn(screen, readScreenState(screen));
    if (this.#turn !== 'before' || this.#isTroubled || trouble === undefined) return;
    this.#isTroubled = true;
    this.#options.fire({ type: 'trouble', ...trouble });
  }

  check(screen: ScreenLines): void {
    const state = readScreenState(screen);
    const stableMs = this.#stableMs(state);
    this.#lookForRetries(screen);
    if (this.#options.hooksLive()) {
      this.#lookForInterrupt(state, stableMs);
      return;
    }
    this.#lookForTrouble(screen, state, stableMs);
    this.#lookForInterrupt(state, stableMs);
  }

  /** How long the screen has been in this state. */
  #stableMs(state: ScreenState): number {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#stateSince?.state !== state) this.#stateSince = { state, sinceMs: nowMs };
    return nowMs - this.#stateSince.sinceMs;
  }

  #lookForRetries(screen: ScreenLines): void {
    const retry = readRetryNotice(screen);
    if (retry !== undefined && retry !== this.#retryNotice) this.#reportRetry(retry);
    this.#retryNotice = retry;
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
    if (retry === undefined) return;
    this.#options.fire({
      type: 'retrying',
      kind: retry.kind,
      text,
      delayMs: retry.delayMs,
      attempt: retry.attempt,
      source: 'observed',
    });
  }

  #lookForInterrupt(state: ScreenState, stableMs: number): void {
    if (!this.#interrupting || state !== 'idle') return;
    if (stableMs >= INTERRUPTED_STABLE_MS) this.#endInterrupted();
    else this.#options.checkAgain();
  }

  #lookForTrouble(screen: ScreenLines, state: ScreenState, stableMs: number): void {
    const trouble = troubleOn(screen, state);
    if (trouble === undefined || this.#isTroubled) return;
    if (stableMs < TROUBLE_STABLE_MS) {
      this.#options.checkAgain();
      return;
    }
    this.#isTroubled = true;
    this.#options.fire({ type: 'trouble', ...trouble });
  }

  #endInterrupted(): void {
    this.turnEnded();
    this.#options.fire({
      type: 'turn-ended',
      source: 'observed',
      message: '',
      backgroundTasks: 0,
      interrupted: true,
    });
  }
}
