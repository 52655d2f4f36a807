// Pure.
import { signal } from '@preact/signals';
import type { Size } from './recording.js';
import type { Reel } from './reel.js';

/** A page that was not drawn for a while goes on where it was. */
const MAX_STEP_MS = 250;
/** Where nothing is printed for longer than this, so much of it is shown. */
const IDLE_MS = 2_000;
const SHOWN_IDLE_MS = 500;

export interface PlayerParts {
  readonly reel: Pick<Reel, 'facts' | 'before' | 'event'>;
  /** The task runs: more is recorded. */
  readonly isLive: () => boolean;
  readonly terminal: {
    write(text: string, onShown?: () => void): void;
    resize(columns: number, rows: number): void;
    reset(): void;
  };
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
  /** The terminal was given something that it does not show yet. */
  #isDrawing = false;
  #isDisposed = false;
  #frame = 0;

  constructor(parts: PlayerParts) {
    this.#parts = parts;
  }

  /** From the end it plays from the beginning. */
  toggle(): void {
    const { first_ms, ready_ms } = this.#parts.reel.facts.value;
    cancelAnimationFrame(this.#frame);
    this.isPlaying.value = !this.isPlaying.value;
    if (!this.isPlaying.value) return;
    if (!this.#parts.isLive() && this.atMs.value >= ready_ms) this.seek(first_ms);
    this.#tickLater();
  }

  /** Shows a moment. While one is being drawn only the last one that was wanted is drawn next. */
  seek(ms: number): void {
    const { first_ms, ready_ms } = this.#parts.reel.facts.value;
    this.atMs.value = Math.max(first_ms, Math.min(ms, ready_ms));
    if (!this.#isDrawing) this.#draw();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.isPlaying.value = false;
    cancelAnimationFrame(this.#frame);
  }

  #draw(): void {
    const { reel, terminal } = this.#parts;
    const picture = reel.before(this.atMs.value);
    if (picture === undefined || this.#isDisposed) return;
    this.#resize(picture.size, true);
    terminal.write(picture.state);
    this.#next = picture.next;
    this.#playUntil(this.atMs.value);
  }

  /** `beforeMs`: when the page was drawn last, while it plays. */
  #tickLater(beforeMs?: number): void {
    this.#frame = requestAnimationFrame((nowMs) => {
      if (!this.#isDrawing) this.#advance(Math.min(MAX_STEP_MS, nowMs - (beforeMs ?? nowMs)));
      if (this.isPlaying.value) this.#tickLater(nowMs);
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
    this.atMs.value = Math.max(at, Math.min(wanted, ready_ms));
    this.#playUntil(this.atMs.value);
    if (this.atMs.value >= ready_ms && is_ready && !isLive()) this.isPlaying.value = false;
  }

  #playUntil(ms: number): void {
    const { reel, terminal } = this.#parts;
    this.#isDrawing = true;
    for (let event = reel.event(this.#next); event !== undefined && event.ms <= ms;) {
      if (event.kind === 'output') terminal.write(event.text);
      else this.#resize(event.size, event.kind === 'begin');
      event = reel.event(++this.#next);
    }
    terminal.write('', () => {
      this.#isDrawing = false;
      if (this.atMs.value !== ms) this.#draw();
    });
  }

  /** What is written is shown later, and this must keep its order. */
  #resize({ columns, rows }: Size, isNew: boolean): void {
    const { terminal } = this.#parts;
    terminal.write('', () => {
      if (isNew) terminal.reset();
      terminal.resize(columns, rows);
    });
  }
}
