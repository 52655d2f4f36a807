// Pure.
import type { SessionEvent, TroubleKind, TurnError } from '../../claude/session.js';
import { troubleWords } from '../../claude/trouble/trouble-words.js';
import type { TaskSpec } from '../task-spec.js';
import type { TaskTrouble } from '../task.js';
import type { RunMessages } from './run-messages.js';
import type { RunCore } from './run-state.js';
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

type Source = 'exact' | 'observed';

/** What blocks a session. The task waits until it passes, where it passes and the settings say so; else it fails. */
export class RunTroubles {
  readonly #core: RunCore;
  readonly #messages: RunMessages;
  /** Tries in a row that failed again. */
  #failures = 0;

  constructor(core: RunCore, messages: RunMessages) {
    this.#core = core;
    this.#messages = messages;
  }

  /** A turn ended by an error: the task waits for that to pass, or fails and says why. */
  turnFailed(error: TurnError, source: Source): void {
    const { kind, text, resetsAtMs } = error;
    const { phase, driver, spec, state, story } = this.#core;
    const name = `${troubleWords(kind).name}${resetsAtMs === undefined ? '' : ` until ${timeText(resetsAtMs)}`}`;
    const resumesAtMs = this.#resumesAtMs(resetsAtMs);
    const why = this.#whyNotAwaited(error, resumesAtMs);
    if (why !== undefined) {
      this.#setFree();
      const stopped = `Claude Code stopped: ${text}`;
      // What no row knows has only its own words.
      const isKnown = kind !== 'api-error';
      const reason = isKnown ? `${endSentence(stopped)} ${name}${why}. ${nextOf(kind, spec)}` : stopped;
      this.#fail(kind, reason, resetsAtMs, 'close');
      return;
    }
    this.#failures++;
    driver.keepSession?.(true);
    const words = `${name}; the task continues automatically at ${timeText(resumesAtMs)}.`;
    const trouble = this.#trouble(kind, resumesAtMs);
    if (phase.at !== 'blocked') story.tell('trouble', { text, ...trouble }, words);
    phase.move({ at: 'blocked', words });
    // A decision may be open, too: then the status stays, and the trouble is still news.
    state.changed({ trouble });
    state.settle(source);
    state.act(words);
    this.#goOnAt(resumesAtMs);
  }

  /** Claude Code asks the API again on its own, for some minutes at most. */
  retrying({ kind, text, delayMs, attempt }: Extract<SessionEvent, { type: 'retrying' }>): void {
    const { phase, state, clock, spec, story } = this.#core;
    const { name, nameOfRetry = name } = troubleWords(kind);
    if (kind === 'not-logged-in' && attempt > LOGIN_TRIES && phase.isOpen)
      return this.#fail(kind, `${endSentence(text)} ${name}. ${nextOf(kind, spec)}`);
    if (delayMs < TOLD_RETRY_MS || phase.at !== 'turn') return;
    const words = `${nameOfRetry}; Claude Code asks again at ${timeText(clock.now() + delayMs)}.`;
    story.noticed(words);
    state.act(words);
  }

  /** The session cannot go on. */
  cannotGoOn({ kind, text }: Extract<SessionEvent, { type: 'trouble' }>): void {
    this.#core.story.tell('trouble', { kind, text });
    this.#fail(kind, text);
  }

  /** Something came that only an answer of the API leads to. */
  answered(): void {
    this.#failures = 0;
  }

  /** A turn has begun, or ended well. */
  over(source: Source): void {
    const { state, story, phase } = this.#core;
    const { trouble } = state.record;
    if (!phase.isOpen || trouble === null || trouble === undefined) return;
    this.#setFree();
    if (phase.at === 'blocked') phase.move({ at: 'sending' });
    story.tell('trouble-over', { kind: trouble.kind }, 'The session goes on');
    state.changed({ trouble: null });
    state.settle(source);
  }

  /** The rest of a sentence that names the trouble; undefined where the task waits until it passes. */
  #whyNotAwaited({ kind, resetsAtMs }: TurnError, resumesAtMs: number): string | undefined {
    const { spec, clock, state } = this.#core;
    if (!troubleWords(kind).passes || spec.settings.resume_after_limit !== true) return '';
    if (kind === 'usage-limit' && resetsAtMs === undefined)
      return ', and it was not told until when, so it was not waited for';
    const leftMs = (spec.timeout_seconds - state.record.elapsed_seconds) * 1_000;
    if (resumesAtMs - clock.now() < leftMs) return undefined;
    return `. That is after the end of the task's time limit of ${spec.timeout_seconds} seconds, so it was not waited for`;
  }

  #fail(kind: TroubleKind, reason: string, resetsAtMs?: number, how: 'kill' | 'close' = 'kill'): void {
    const { state, spec } = this.#core;
    state.changed({ trouble: this.#trouble(kind, resetsAtMs) });
    state.end({ status: 'failed', reason: troubleReason(reason, kind, spec) }, how);
  }

  /** At the reported reset; without one, or when the last try failed again, after a pause that grows. */
  #resumesAtMs(resetsAtMs: number | undefined): number {
    const failures = resetsAtMs === undefined ? this.#failures + 1 : this.#failures;
    const pauseMs =
      failures === 0 ? SHORTEST_WAIT_MS : Math.min(PAUSE_MS * 2 ** (failures - 1), MAX_PAUSE_MS);
    return Math.max(this.#core.clock.now() + pauseMs, (resetsAtMs ?? -Infinity) + RESET_MARGIN_MS);
  }

  /** Of the same kind as before, it has been there since then. */
  #trouble(kind: TroubleKind, resumesAtMs: number | undefined): TaskTrouble {
    const { state } = this.#core;
    const before = state.record.trouble;
    const resumes_at = resumesAtMs === undefined ? null : new Date(resumesAtMs).toISOString();
    return { kind, since: before?.kind === kind ? before.since : state.nowText(), resumes_at };
  }

  /** A message to go on, once; one that the session does not take waits as any other. */
  #goOnAt(resumesAtMs: number): void {
    const { clock, phase, driver } = this.#core;
    const leftMs = Math.max(0, resumesAtMs - clock.now());
    phase.after(Math.min(leftMs, LOOK_MS), () => {
      if (clock.now() < resumesAtMs) return this.#goOnAt(resumesAtMs);
      if (this.#messages.areWaiting) return;
      // From here on the end of the program is that of the session.
      driver.keepSession?.(false);
      this.#messages.add(GO_ON);
    });
  }

  #setFree(): void {
    this.#messages.takeBack(GO_ON);
    this.#core.driver.keepSession?.(false);
  }
}

/** What the caller does next, as a sentence. */
function nextOf(kind: TroubleKind, { purpose }: TaskSpec): string {
  const { next, nextAsk = next } = troubleWords(kind);
  return purpose === 'ask' ? nextAsk : next;
}

/** `2026-11-22 09:31 UTC`: the same for every reader, wherever the task runs. */
function timeText(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
