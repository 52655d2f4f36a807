// Pure.
import type { Place } from './placed-events.js';
import type { Size } from './recorded-line.js';

/** The screen at a place of a recording. */
export interface KeyFrame {
  readonly place: Place;
  readonly size: Size;
  readonly state: string;
}

/** Of all frames together: beyond it every second one is dropped. */
const MAX_CHARS = 32 * 1024 * 1024;

/** Screens along a recording, so that any moment of it is near one of them. */
export class KeyFrames {
  #frames: KeyFrame[] = [];
  #chars = 0;
  /** A frame is wanted after so many characters, or so many milliseconds in which something was printed. */
  #everyChars = 2 * 1024 * 1024;
  #everyMs = 30_000;

  get first(): KeyFrame | undefined {
    return this.#frames[0];
  }

  /** Whether a frame is wanted so many characters and milliseconds after the last one. */
  isDue(chars: number, ms: number): boolean {
    return chars >= this.#everyChars || (chars > 0 && ms >= this.#everyMs);
  }

  add(frame: KeyFrame): void {
    this.#frames.push(frame);
    this.#chars += frame.state.length;
    if (this.#chars <= MAX_CHARS) return;
    this.#everyChars *= 2;
    this.#everyMs *= 2;
    this.#keep((_frame, at) => at % 2 === 0);
  }

  /** Forgets what is before a part. */
  dropBefore(part: number): void {
    if ((this.#frames[0]?.place.part ?? part) < part) this.#keep(({ place }) => place.part >= part);
  }

  /** The last one that is not after `ms`, or the first one. */
  before(ms: number): KeyFrame | undefined {
    return this.#frames.findLast(({ place }) => place.ms <= ms) ?? this.#frames[0];
  }

  #keep(isKept: (frame: KeyFrame, at: number) => boolean): void {
    this.#frames = this.#frames.filter(isKept);
    this.#chars = this.#frames.reduce((chars, { state }) => chars + state.length, 0);
  }
}
