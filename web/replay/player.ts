// Pure.
import { signal } from '@preact/signals';
import type { ReplayEvent, Size } from './recording.js';
import type { Reel } from './reel.js';

/** A page that was not drawn for a while goes on where it was. */
const MAX_STEP_MS = 250;
/** Where nothing is printed for longer than this, so much of it is shown. */
const IDLE_MS = 2_000;
const SHOWN_IDLE_MS = 500;
/** The terminal is given no more while so much is not shown yet. */
const MAX_UNSHOWN_CHARS = 1024 * 1024;

export interface PlayerParts {
  readonly reel: Pick<Reel, 'facts' | 'before' | 'event'>;
  /** The task runs: more is recorded. */
  readonly isLive: () => boolean;
  readonly terminal: {
    write(text: string, onShown?: () => void): void;
    resize(columns: number, rows: number): void;
    reset(): void;
  };
  /** Calls back when the page is drawn next, until the result is called. */
  readonly onFrame: (act: (nowMs: number) => void) => () => void;
}

/** Plays a recording in a terminal. */
export class Player {
  /** The moment that is shown, in milliseconds since the recording began. */
  readonly atMs = signal(0);
  readonly isPlaying = signal(false);
  readonly speed = signal(1);
  readonly skipsIdle = signal(true);
  readonly #parts: PlayerParts;
  /** The number of the event that comes next. */
  #next = 0;
  #wantedMs: number | undefined;
  #isSeeking = false;
  #unshownChars = 0;
  #leaveFrame = (): void => undefined;
  /** When the page was drawn last; undefined where it begins to play. */
  #drawnMs: number | undefined;

  constructor(parts: PlayerParts) {
    this.#parts = parts;
  }

  /** From the end it plays from the beginning. */
  toggle(): void {
    const { first_ms, ready_ms } = this.#parts.reel.facts.value;
    this.isPlaying.value = !this.isPlaying.value;
    if (!this.isPlaying.value) return;
    if (!this.#parts.isLive() && this.atMs.value >= ready_ms) this.seek(first_ms);
    this.#drawnMs = undefined;
    this.#tickLater();
  }

  /** Shows a moment. While one is being drawn only the last one that was wanted is drawn next. */
  seek(ms: number): void {
    const { first_ms, ready_ms } = this.#parts.reel.facts.value;
    this.#wantedMs = Math.max(first_ms, Math.min(ms, ready_ms));
    this.atMs.value = this.#wantedMs;
    if (!this.#isSeeking) this.#seekWanted();
  }

  dispose(): void {
    this.isPlaying.value = false;
    this.#wantedMs = undefined;
    this.#leaveFrame();
  }

  #seekWanted(): void {
    const ms = this.#wantedMs;
    this.#wantedMs = undefined;
    this.#isSeeking = ms !== undefined;
    const picture = ms === undefined ? undefined : this.#parts.reel.before(ms);
    if (ms === undefined || picture === undefined) {
      this.#isSeeking = false;
      return;
    }
    this.#begin(picture.size);
    this.#write(picture.state);
    this.#next = picture.next;
    this.#happenUntil(ms);
    this.#behindWrites(() => this.#seekWanted());
  }

  #tickLater(): void {
    this.#leaveFrame();
    this.#leaveFrame = this.#parts.onFrame((nowMs) => {
      if (!this.isPlaying.value) return;
      const stepMs = Math.min(MAX_STEP_MS, nowMs - (this.#drawnMs ?? nowMs));
      this.#drawnMs = nowMs;
      if (!this.#isSeeking && this.#unshownChars <= MAX_UNSHOWN_CHARS) this.#advance(stepMs);
      if (this.isPlaying.value) this.#tickLater();
    });
  }

  #advance(stepMs: number): void {
    const { reel, isLive } = this.#parts;
    const { first_ms, ready_ms, is_ready } = reel.facts.value;
    const at = this.atMs.value;
    // What was to come is shown no longer.
    if (at < first_ms) return this.seek(first_ms);
    const nextMs = reel.event(this.#next)?.ms ?? ready_ms;
    const isIdle = this.skipsIdle.value && nextMs - at > IDLE_MS;
    const wanted = (isIdle ? nextMs - SHOWN_IDLE_MS : at) + stepMs * this.speed.value;
    const to = Math.max(at, Math.min(wanted, ready_ms));
    this.#happenUntil(to);
    this.atMs.value = to;
    if (to >= ready_ms && is_ready && !isLive()) this.isPlaying.value = false;
  }

  #happenUntil(ms: number): void {
    for (let event = this.#parts.reel.event(this.#next); event !== undefined && event.ms <= ms;) {
      this.#happen(event);
      event = this.#parts.reel.event(++this.#next);
    }
  }

  #happen(event: ReplayEvent): void {
    if (event.kind === 'output') return this.#write(event.text);
    if (event.kind === 'begin') return this.#begin(event.size);
    const { columns, rows } = event.size;
    this.#behindWrites(() => this.#parts.terminal.resize(columns, rows));
  }

  #begin({ columns, rows }: Size): void {
    this.#behindWrites(() => {
      this.#parts.terminal.reset();
      this.#parts.terminal.resize(columns, rows);
    });
  }

  /** What is written is shown later, and all else must keep its order. */
  #behindWrites(act: () => void): void {
    this.#parts.terminal.write('', act);
  }

  #write(text: string): void {
    this.#unshownChars += text.length;
    this.#parts.terminal.write(text, () => (this.#unshownChars -= text.length));
  }
}
