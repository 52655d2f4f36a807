import type { Clock } from '../../base/clock.js';
import type { SessionEvent, TroubleKind, TurnFault } from '../session.js';
import { readLimitFooter } from '../trouble/limit-footer.js';
import { readRetryLine, type RetryLine } from '../trouble/retry-line.js';
import {
  readLimitWords,
  readTurnEnd,
  readableText,
  readRetryNotice,
  readScreenState,
  type ScreenLines,
  type ScreenState,
} from './screen-state.js';

/** Without hooks a turn counts as over when the input box stood idle this long. */
const IDLE_SETTLED_MS = 2_000;
/** The hook that begins a turn comes a little after the screen shows it; longer, and no hook comes. */
const BUSY_SETTLED_MS = 1_000;
/** After an interrupt the footer may be one frame behind. */
const INTERRUPTED_SETTLED_MS = 500;
/** First-start screens count when they stand this long: a theme picker may flash by. */
const TROUBLE_SETTLED_MS = 1_500;

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
    text: 'Claude Code could not connect to its service. Check the network (and ANTHROPIC_BASE_URL), then start the task again.',
  },
};

export interface ScreenWatchOptions {
  readonly clock: Clock;
  readonly fire: (event: SessionEvent) => void;
  readonly hooksLive: () => boolean;
  readonly dialogOpen: () => boolean;
  /** Asks for another look soon, also when no frame comes. */
  readonly lookAgain: () => void;
}

/** What the screen tells that no hook does: trouble at the start, retries, interrupted turns, turns without hooks. */
export class ScreenWatch {
  readonly #options: ScreenWatchOptions;
  #turn: 'before' | 'running' | 'over' = 'before';
  #interrupting = false;
  #settling: { readonly state: ScreenState; readonly sinceMs: number } | undefined;
  #retryNotice: string | undefined;
  #retry: RetryLine | undefined;
  /** The menu that is drawn below a usage limit stood there in this turn. */
  #limitMenuSeen = false;
  #readable = '';
  #isTroubled = false;

  constructor(options: ScreenWatchOptions) {
    this.#options = options;
  }

  get turn(): 'before' | 'running' | 'over' {
    return this.#turn;
  }

  /** The last readable text that stood on the screen. */
  get readable(): string {
    return this.#readable;
  }

  turnStarted(): void {
    this.#turn = 'running';
    this.#retry = undefined;
    this.#settling = undefined;
  }

  /** Something that only a running turn shows stands on the screen. */
  turnSeen(): void {
    if (this.#turn !== 'running') this.#startTurn();
  }

  /** The menu of a usage limit stands there: the CLI draws it when the turn has ended by one. */
  limitMenuSeen(): void {
    this.#limitMenuSeen = true;
  }

  turnEnded(): void {
    this.#turn = 'over';
    this.#limitMenuSeen = false;
    this.#interrupting = false;
    this.#settling = undefined;
  }

  /** Esc was pressed: the turn is over when the screen is idle. */
  interrupted(): void {
    this.#interrupting = this.#turn === 'running';
    this.#settling = undefined;
  }

  remember(screen: ScreenLines): void {
    const readable = readableText(screen);
    if (readable !== '') this.#readable = readable;
  }

  look(screen: ScreenLines): void {
    const state = readScreenState(screen);
    const settledMs = this.#settledMs(state);
    this.#lookForRetries(screen);
    if (this.#options.hooksLive()) {
      this.#lookForInterrupt(screen, state, settledMs);
      return;
    }
    this.#lookForTrouble(state, settledMs);
    if (this.#lookForInterrupt(screen, state, settledMs)) return;
    if (state === 'busy') this.#lookForStart(settledMs);
    else if (state === 'idle' && !this.#options.dialogOpen()) this.#lookForEnd(screen, settledMs);
  }

  #lookForStart(settledMs: number): void {
    if (this.#turn === 'running') return;
    if (settledMs >= BUSY_SETTLED_MS) this.#startTurn();
    else this.#options.lookAgain();
  }

  #lookForEnd(screen: ScreenLines, settledMs: number): void {
    // A short turn may never have been seen to run; what it left on the screen tells that it was there.
    if (this.#turn === 'over' || (this.#turn === 'before' && readTurnEnd(screen) === undefined)) return;
    if (settledMs < IDLE_SETTLED_MS) {
      this.#options.lookAgain();
      return;
    }
    if (this.#turn === 'before') this.#startTurn();
    this.#endTurn(screen, false);
  }

  #startTurn(): void {
    this.turnStarted();
    this.#options.fire({ type: 'turn-started', source: 'observed', prompt: '' });
  }

  /** How long the screen has been in this state. */
  #settledMs(state: ScreenState): number {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#settling?.state !== state) this.#settling = { state, sinceMs: nowMs };
    return nowMs - this.#settling.sinceMs;
  }

  #lookForRetries(screen: ScreenLines): void {
    const retry = readRetryNotice(screen);
    if (retry !== undefined && retry !== this.#retryNotice) this.#tellRetry(retry);
    this.#retryNotice = retry;
  }

  /** The line counts down its seconds: each attempt is told once. */
  #tellRetry(text: string): void {
    const retry = readRetryLine(text);
    const before = this.#retry;
    this.#retry = retry;
    // Seconds that grow are another request's first attempt.
    const isSame = retry?.attempt === before?.attempt && (retry?.delayMs ?? 0) <= (before?.delayMs ?? 0);
    if (retry !== undefined && isSame) return;
    this.#options.fire({ type: 'notice', text });
    if (retry === undefined) return;
    this.#options.fire({
      type: 'retrying',
      kind: retry.kind,
      text,
      delayMs: retry.delayMs,
      source: 'observed',
    });
  }

  #lookForInterrupt(screen: ScreenLines, state: ScreenState, settledMs: number): boolean {
    if (!this.#interrupting || state !== 'idle') return false;
    if (settledMs >= INTERRUPTED_SETTLED_MS) this.#endTurn(screen, true);
    else this.#options.lookAgain();
    return true;
  }

  #lookForTrouble(state: ScreenState, settledMs: number): void {
    const trouble = troubles[state];
    if (trouble === undefined || this.#isTroubled) return;
    if (settledMs < TROUBLE_SETTLED_MS) {
      this.#options.lookAgain();
      return;
    }
    this.#isTroubled = true;
    this.#options.fire({ type: 'trouble', ...trouble });
  }

  #endTurn(screen: ScreenLines, interrupted: boolean): void {
    const end = readTurnEnd(screen);
    const error = interrupted ? undefined : this.#faultOn(screen, end);
    this.turnEnded();
    this.#options.fire({
      type: 'turn-ended',
      source: 'observed',
      message: end?.message ?? '',
      backgroundTasks: 0,
      interrupted,
      ...(error !== undefined && { error: error }),
    });
  }

  #faultOn(screen: ScreenLines, end: ReturnType<typeof readTurnEnd>): TurnFault | undefined {
    const limit = readLimitFooter(screen);
    if (limit !== undefined) return { kind: 'usage-limit', text: limit };
    if (this.#limitMenuSeen) return { kind: 'usage-limit', text: readLimitWords(screen) };
    return end?.fault === undefined ? undefined : { kind: end.fault, text: end.message };
  }
}
