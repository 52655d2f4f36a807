import { messageOf } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { SessionEvent, TroubleKind, TurnError } from '../../claude/session.js';
import { troubleWords } from '../../claude/trouble/trouble-words.js';
import { troubleReason } from './end-causes.js';
import type { RunCore } from './run-state.js';

/**
 * A task goes on so long after the reset that was reported: that is a whole minute, clocks differ, and 2.1.330 itself goes on
 * within a minute of the reset and should do so first.
 */
const RESET_MARGIN_MS = 120_000;
/** Pauses before what failed is tried again, when no time is known or the last try failed again; the last one repeats. */
const PAUSES_MS = [60_000, 120_000, 300_000, 600_000] as const;
/** The clock is read this often while a task waits: a machine that slept, or a clock that was set, wakes it in time. */
const LOOK_MS = 30_000;
/** Claude Code asks again after 0.5 to 32 s, twice as long each time; trouble shorter than this is not worth waking a caller. */
const TOLD_RETRY_MS = 5_000;
/** 2.1.197 draws a menu over its input box a second after a limit; it is answered and gone by then. */
const SHORTEST_WAIT_MS = 5_000;
/** A turn begins within seconds of its message. A message that began none is sent again after this time, so many times. */
const TAKEN_LIMIT_MS = 60_000;
const MAX_REPEATS = 3;
/** Claude Code renews an expired login and asks again, twice (2.1.332); with a key it asks ten times, for three minutes. */
const LOGIN_TRIES = 2;
const GO_ON = 'Go on with the task where it stopped; do not repeat what is already done.';

type Outcome = { readonly held: true } | { readonly held: false; readonly reason: string };

/** What blocks a session. The task waits until it passes, where it passes and the settings say so; else it fails. */
export class RunTroubles implements Disposable {
  readonly #parts: RunCore;
  readonly #send: (text: string) => Promise<void>;
  #timer: Disposable | undefined;
  /** Tries in a row that failed again. */
  #failures = 0;
  /** Times in a row that the session took no message. */
  #repeats = 0;
  /** Grows when trouble is over. */
  #episode = 0;

  /** `send` sends the session a message, unless a turn runs. */
  constructor(parts: RunCore, send: (text: string) => Promise<void>) {
    this.#parts = parts;
    this.#send = send;
  }

  /** A turn ended by an error: the task waits for that to pass, or fails for the reason given. */
  turnFailed(error: TurnError, source: 'exact' | 'observed'): Outcome {
    const { spec, clock, state, driver, phase } = this.#parts;
    const { name, passes, ...hints } = troubleWords(error.kind);
    const next = (spec.purpose === 'ask' ? hints.nextAsk : undefined) ?? hints.next;
    const nowMs = clock.now();
    const { resetsAtMs } = error;
    const stopped = `Claude Code stopped: ${error.text}`;
    const fail = (why: string): Outcome => {
      this.#setFree();
      state.changed({ trouble: this.#trouble(error.kind, resetsAtMs) });
      const reason = why === '' ? stopped : `${endSentence(stopped)} ${why}`;
      return { held: false, reason: troubleReason(reason, error.kind, spec) };
    };
    // What no row knows has only its own words.
    if (error.kind === 'api-error') return fail('');
    const until = resetsAtMs === undefined ? '' : ` until ${timeText(resetsAtMs)}`;
    if (!passes || spec.settings.resume_after_limit !== true) return fail(`${name}${until}. ${next}`);
    if (error.kind === 'usage-limit' && resetsAtMs === undefined)
      return fail(`${name}, and it was not told until when, so it was not waited for. ${next}`);
    const resumesAtMs = this.#resumesAtMs(resetsAtMs, nowMs);
    const leftMs = (spec.timeout_seconds - state.record.elapsed_seconds) * 1_000;
    if (resumesAtMs - nowMs >= leftMs) {
      return fail(
        `${name}${until}. That is after the end of the task's time limit of ${spec.timeout_seconds} seconds, so it was not waited for. ${next}`,
      );
    }
    this.#failures++;
    driver.keepSession?.(true);
    const words = `${name}${until}; the task goes on by itself at ${timeText(resumesAtMs)}.`;
    const isNew = !phase.isBetweenTries;
    phase.move({ name: 'blocked', reason: words, isTrying: false });
    this.#told(error, resumesAtMs, words, isNew, source);
    this.#goOnAt(resumesAtMs);
    return { held: true };
  }

  /** Claude Code asks the API again on its own. */
  retrying({ kind, text, delayMs, attempt, source }: Extract<SessionEvent, { type: 'retrying' }>): void {
    const { phase, state } = this.#parts;
    if (kind === 'not-logged-in' && attempt > LOGIN_TRIES && phase.isOpen) return this.#notLoggedIn(text);
    if (delayMs < TOLD_RETRY_MS || phase.now.name !== 'turn') return;
    const resumesAtMs = this.#parts.clock.now() + delayMs;
    const { name, nameOfRetry } = troubleWords(kind);
    const words = `${nameOfRetry ?? name}; Claude Code asks again at ${timeText(resumesAtMs)}.`;
    this.#told({ kind, text }, resumesAtMs, words, state.record.trouble?.kind !== kind, source);
  }

  /** A login does not pass. */
  #notLoggedIn(text: string): void {
    const { state, spec } = this.#parts;
    const { name, next, nextAsk = next } = troubleWords('not-logged-in');
    state.changed({ trouble: this.#trouble('not-logged-in', undefined) });
    const words = `${endSentence(text)} ${name}. ${spec.purpose === 'ask' ? nextAsk : next}`;
    state.end({ status: 'failed', reason: troubleReason(words, 'not-logged-in', spec) });
  }

  /** Something came that only an answer of the API leads to. */
  answered(source: 'exact' | 'observed'): void {
    this.#failures = 0;
    if (!this.#parts.phase.isBetweenTries) this.#over(source);
  }

  turnStarted(source: 'exact' | 'observed'): void {
    this.#over(source);
  }

  /** A turn ended well. */
  passed(source: 'exact' | 'observed'): void {
    this.#failures = 0;
    this.#over(source);
  }

  dispose(): void {
    this.#timer?.dispose();
  }

  /** At the reported reset; without one, or when the last try failed again, after a pause that grows. */
  #resumesAtMs(resetsAtMs: number | undefined, nowMs: number): number {
    const failures = resetsAtMs === undefined ? this.#failures + 1 : this.#failures;
    const pauseMs = PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1] ?? 0;
    return Math.max(
      nowMs + Math.max(pauseMs, SHORTEST_WAIT_MS),
      resetsAtMs === undefined ? 0 : resetsAtMs + RESET_MARGIN_MS,
    );
  }

  #told(
    { kind, text }: TurnError,
    resumesAtMs: number,
    words: string,
    isNew: boolean,
    source: 'exact' | 'observed',
  ): void {
    const { state, story } = this.#parts;
    const trouble = this.#trouble(kind, resumesAtMs);
    if (isNew) story.heldUp(kind, text, trouble, words);
    state.setTrouble(trouble, source);
    state.act(words);
  }

  /** Of the same kind as before, it has been there since then. */
  #trouble(
    kind: TroubleKind,
    resumesAtMs: number | undefined,
  ): { kind: string; since: string; resumes_at: string | null } {
    const { state } = this.#parts;
    const before = state.record.trouble;
    const since = before?.kind === kind ? before.since : state.nowText();
    return {
      kind,
      since,
      resumes_at: resumesAtMs === undefined ? null : new Date(resumesAtMs).toISOString(),
    };
  }

  #goOnAt(resumesAtMs: number): void {
    const { clock } = this.#parts;
    const leftMs = Math.max(0, resumesAtMs - clock.now());
    this.#timer?.dispose();
    this.#timer = clock.after(Math.min(leftMs, LOOK_MS), () => {
      if (clock.now() < resumesAtMs) this.#goOnAt(resumesAtMs);
      else void this.#goOn();
    });
  }

  async #goOn(): Promise<void> {
    const { state, driver, clock, story, phase } = this.#parts;
    if (!phase.isBetweenTries) return;
    // From here on the program's end is the session's.
    driver.keepSession?.(false);
    if (this.#repeats > 0)
      story.noticed('The session has not begun a turn; it gets the message to continue again');
    const episode = this.#episode;
    let why = 'it begins no turn.';
    try {
      await this.#send(GO_ON);
    } catch (error) {
      why = messageOf(error);
      story.noticed(why);
    }
    // It may have begun, and ended by other trouble, meanwhile.
    if (episode !== this.#episode) return;
    if (this.#repeats === MAX_REPEATS) {
      const reason = `The trouble has passed, but the session could not be told to go on: ${why}`;
      state.end({ status: 'failed', reason }, 'close');
      return;
    }
    this.#repeats++;
    this.#goOnAt(clock.now() + TAKEN_LIMIT_MS);
  }

  /** The trouble has passed. */
  #over(source: 'exact' | 'observed'): void {
    const { state, story, phase } = this.#parts;
    const { trouble } = state.record;
    if (!phase.isOpen || trouble === null || trouble === undefined) return;
    this.#setFree();
    if (phase.isBetweenTries) phase.move({ name: 'idle', why: 'sending' });
    story.troubleOver(trouble);
    state.setTrouble(null, source);
  }

  #setFree(): void {
    this.#timer?.dispose();
    this.#timer = undefined;
    if (this.#parts.phase.isBetweenTries) this.#parts.driver.keepSession?.(false);
    this.#repeats = 0;
    this.#episode++;
  }
}

/** `2026-11-22 09:31 UTC`: the same for every reader, wherever the task runs. */
function timeText(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
