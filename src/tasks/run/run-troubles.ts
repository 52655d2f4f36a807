// Pure: what blocks a session.
import type { SessionEvent, TroubleKind, TurnError } from '../../claude/session.js';
import { troubleWords } from '../../claude/trouble/trouble-words.js';
import type { RunMessages } from './run-messages.js';
import type { RunState } from './run-state.js';
import { troubleReason } from './session-phase.js';

/**
 * A task goes on so long after the reset that was reported: that is a whole minute, clocks differ, and 2.1.330 itself goes on
 * within a minute of the reset and should do so first.
 */
const RESET_MARGIN_MS = 120_000;
/** The pause before what failed is tried again, when no time is known or the last try failed again: it doubles up to the longest. */
const PAUSE_MS = 60_000;
const MAX_PAUSE_MS = 600_000;
/** The clock is read this often while a task waits: a machine that slept, or a clock that was set, wakes it in time. */
const LOOK_MS = 30_000;
/** Claude Code asks again after 0.5 to 32 s, twice as long each time; a shorter pause is not worth a word. */
const TOLD_RETRY_MS = 5_000;
/** 2.1.197 draws a menu over its input box a second after a limit; it is answered and gone by then. */
const SHORTEST_WAIT_MS = 5_000;
/** Claude Code renews an expired login and asks again, twice (2.1.332); with a key it asks ten times, for three minutes. */
const LOGIN_TRIES = 2;
const GO_ON = 'Go on with the task where it stopped; do not repeat what is already done.';

/** The task waits until trouble passes, where it passes and the settings say so; else it fails. */
export class RunTroubles {
  readonly #run: RunState;
  readonly #messages: RunMessages;
  /** Tries in a row that failed again. */
  #failures = 0;

  constructor(run: RunState, messages: RunMessages) {
    this.#run = run;
    this.#messages = messages;
  }

  /** A turn ended by an error: the task waits for that to pass, or fails and says why. */
  turnFailed(error: TurnError, source: 'exact' | 'observed'): void {
    const { kind, text, resetsAtMs } = error;
    const run = this.#run;
    const name = `${troubleWords(kind).name}${resetsAtMs === undefined ? '' : ` until ${timeText(resetsAtMs)}`}`;
    const resumesAtMs = this.#resumesAtMs(resetsAtMs);
    const why = this.#whyNotAwaited(error, resumesAtMs);
    if (why !== undefined) {
      this.#setFree();
      const stopped = `Claude Code stopped: ${text}`;
      // What no row knows has only its own words.
      const isKnown = kind !== 'api-error';
      const reason = isKnown ? `${endSentence(stopped)} ${name}${why}. ${this.#next(kind)}` : stopped;
      this.#fail(kind, reason, resetsAtMs, 'close');
      return;
    }
    this.#failures++;
    run.parts.driver.keepSession?.(true);
    const words = `${name}; the task continues automatically at ${timeText(resumesAtMs)}.`;
    const trouble = this.#trouble(kind, resumesAtMs);
    if (run.phase.at !== 'blocked') run.story.tell('trouble', { text, ...trouble }, words);
    run.enter({ at: 'blocked', words });
    // A decision may be open, too: then the status stays, and the trouble is still news.
    run.changed({ trouble });
    run.settle(source);
    run.act(words);
    this.#goOnAt(resumesAtMs);
  }

  /** Claude Code asks the API again on its own, for some minutes at most. */
  retrying({ kind, text, delayMs, attempt }: Extract<SessionEvent, { type: 'retrying' }>): void {
    const run = this.#run;
    const { name, nameOfRetry = name } = troubleWords(kind);
    if (kind === 'not-logged-in' && attempt > LOGIN_TRIES && run.isOpen)
      return this.#fail(kind, `${endSentence(text)} ${name}. ${this.#next(kind)}`);
    if (delayMs < TOLD_RETRY_MS || run.phase.at !== 'turn') return;
    const words = `${nameOfRetry}; Claude Code asks again at ${timeText(run.parts.clock.now() + delayMs)}.`;
    run.story.noticed(words);
    run.act(words);
  }

  /** The session cannot go on. */
  cannotGoOn({ kind, text }: Extract<SessionEvent, { type: 'trouble' }>): void {
    this.#run.story.tell('trouble', { kind, text });
    this.#fail(kind, text);
  }

  /** Something came that only an answer of the API leads to. */
  answered(): void {
    this.#failures = 0;
  }

  /** A turn has begun, or ended well. */
  over(source: 'exact' | 'observed'): void {
    const run = this.#run;
    const { trouble } = run.record;
    if (!run.isOpen || trouble == null) return;
    this.#setFree();
    if (run.phase.at === 'blocked') run.enter({ at: 'sending' });
    run.story.tell('trouble-over', { kind: trouble.kind }, 'The session goes on');
    run.changed({ trouble: null });
    run.settle(source);
  }

  /** The rest of a sentence that names the trouble; undefined where the task waits until it passes. */
  #whyNotAwaited({ kind, resetsAtMs }: TurnError, resumesAtMs: number): string | undefined {
    const { parts, record } = this.#run;
    const { timeout_seconds: limit, settings } = parts.spec;
    if (!troubleWords(kind).passes || settings.resume_after_limit !== true) return '';
    if (kind === 'usage-limit' && resetsAtMs === undefined)
      return ', and it was not told until when, so it was not waited for';
    if (resumesAtMs - parts.clock.now() < (limit - record.elapsed_seconds) * 1_000) return undefined;
    return `. That is after the end of the task's time limit of ${limit} seconds, so it was not waited for`;
  }

  #fail(kind: TroubleKind, reason: string, resetsAtMs?: number, how: 'kill' | 'close' = 'kill'): void {
    this.#run.changed({ trouble: this.#trouble(kind, resetsAtMs) });
    this.#run.end({ status: 'failed', reason: troubleReason(reason, kind, this.#run.parts.spec) }, how);
  }

  /** What the caller does next, as a sentence. */
  #next(kind: TroubleKind): string {
    const { next, nextAsk = next } = troubleWords(kind);
    return this.#run.parts.spec.purpose === 'ask' ? nextAsk : next;
  }

  /** At the reported reset; without one, or when the last try failed again, after a pause that grows. */
  #resumesAtMs(resetsAtMs: number | undefined): number {
    const failures = resetsAtMs === undefined ? this.#failures + 1 : this.#failures;
    const pauseMs =
      failures === 0 ? SHORTEST_WAIT_MS : Math.min(PAUSE_MS * 2 ** (failures - 1), MAX_PAUSE_MS);
    return Math.max(this.#run.parts.clock.now() + pauseMs, (resetsAtMs ?? -Infinity) + RESET_MARGIN_MS);
  }

  /** Of the same kind as before, it has been there since then. */
  #trouble(kind: TroubleKind, resumesAtMs: number | undefined) {
    const before = this.#run.record.trouble;
    const resumes_at = resumesAtMs === undefined ? null : new Date(resumesAtMs).toISOString();
    return { kind, since: before?.kind === kind ? before.since : this.#run.nowText(), resumes_at };
  }

  /** A message to go on, once; one that the session does not take waits as any other. */
  #goOnAt(resumesAtMs: number): void {
    const { clock, driver } = this.#run.parts;
    const leftMs = Math.max(0, resumesAtMs - clock.now());
    this.#run.after(Math.min(leftMs, LOOK_MS), () => {
      if (clock.now() < resumesAtMs) return this.#goOnAt(resumesAtMs);
      if (this.#messages.areWaiting) return;
      // From here on the end of the program is that of the session.
      driver.keepSession?.(false);
      this.#messages.add(GO_ON);
    });
  }

  #setFree(): void {
    this.#messages.takeBack(GO_ON);
    this.#run.parts.driver.keepSession?.(false);
  }
}

/** `2026-11-22 09:31 UTC`: the same for every reader, wherever the task runs. */
function timeText(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
