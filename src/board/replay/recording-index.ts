import { PAUSE_MS, type Pause } from './cut-time.js';
import { KeyFrames } from './key-frames.js';
import { PlacedEvents, type Place, type PlacedEvent } from './placed-events.js';
import { RecordingParts } from './recording-parts.js';
import type { Size } from './recorded-line.js';
import { ReplayScreen } from './replay-screen.js';
import type { ReplayEvent, ReplayPiece, ReplayScreenAt } from './replay-state.js';

/** A piece of a recording for a page: not much more than this. */
const PIECE_CHARS = 256 * 1024;
/** More pauses are not cut. */
const MAX_PAUSES = 5_000;
const START: Place = { part: 0, offset: 0, ms: 0 };
const NO_SIZE: Size = { columns: 80, rows: 24 };

/** What is known of a recording so far. */
export interface IndexProgress {
  /** When it began, in milliseconds since the epoch; null before anything was recorded. */
  readonly began_ms: number | null;
  /** What is before this time is no longer there. */
  readonly first_ms: number;
  readonly ready_ms: number;
  readonly pauses: readonly Pause[];
}

/** A recording of a terminal that is read once, and then shown at any moment of it. What is written meanwhile is read by a later look. */
export class RecordingIndex {
  readonly #parts: RecordingParts;
  readonly #events: PlacedEvents;
  readonly #frames: KeyFrames;
  readonly #pauses: Pause[] = [];
  /** Up to here all was read, and `#screen` is what was shown there. */
  #end = START;
  #screen: ReplayScreen | undefined;
  /** Since the last key frame. */
  #chars = 0;
  #frameMs = 0;

  constructor(path: string) {
    this.#parts = new RecordingParts(path);
    this.#events = new PlacedEvents(this.#parts);
    this.#frames = new KeyFrames();
  }

  get progress(): IndexProgress {
    return {
      began_ms: this.#parts.beganMs ?? null,
      first_ms: this.#frames.first?.place.ms ?? 0,
      ready_ms: this.#end.ms,
      pauses: this.#pauses,
    };
  }

  /** Reads all that was written since the last look; `onProgress` is called along the way. One look at a time. */
  async look(onProgress: () => void = () => undefined): Promise<void> {
    await this.#parts.look();
    this.#frames.dropBefore(this.#parts.list[0]?.number ?? 0);
    await this.#parts.reading(async () => {
      for await (const events of this.#events.after(this.#end)) {
        for (const one of events) await this.#take(one);
        onProgress();
      }
    });
  }

  /** The screen at a moment. */
  seek(ms: number): Promise<ReplayScreenAt> {
    return this.#parts.reading(async () => {
      const frame = this.#frames.before(ms);
      const screen = await ReplayScreen.at(frame?.size ?? NO_SIZE, frame?.state ?? '');
      try {
        let place = frame?.place ?? START;
        for await (const { event, after } of this.#until(place, ms)) {
          const wait = screen.show(event);
          if (wait !== undefined) await wait;
          place = after;
        }
        const state = await screen.state();
        return { ...screen.size, at_ms: Math.max(place.ms, Math.min(ms, this.#end.ms)), state, next: place };
      } finally {
        screen.dispose();
      }
    });
  }

  /** What happens after a place. */
  read(from: Place): Promise<ReplayPiece> {
    return this.#parts.reading(async () => {
      const events: ReplayEvent[] = [];
      let next = from;
      let chars = 0;
      for await (const { event, after } of this.#until(from, Infinity)) {
        const text = event.kind === 'output' ? event.text : `${event.size.columns}x${event.size.rows}`;
        events.push([after.ms, event.kind, text]);
        next = after;
        chars += text.length;
        if (chars >= PIECE_CHARS) break;
      }
      return { events, next };
    });
  }

  async close(): Promise<void> {
    this.#screen?.dispose();
    await this.#parts.close();
  }

  /** What was read of the events after a place, up to a moment. */
  async *#until(from: Place, ms: number): AsyncGenerator<PlacedEvent> {
    for await (const events of this.#events.after(from)) {
      for (const one of events) {
        if (one.after.ms > ms || isBehind(one.after, this.#end)) return;
        yield one;
      }
    }
  }

  async #take({ event, before, after }: PlacedEvent): Promise<void> {
    if (event.kind === 'begin') await this.#begin(event.size, { ...before, ms: after.ms });
    else if (this.#screen !== undefined) {
      // At the beginning of a part there would be no telling whether the terminal is a new one.
      if (before.offset > 0 && this.#frames.isDue(this.#chars, after.ms - this.#frameMs))
        await this.#addFrame(this.#screen, before);
      if (after.ms - before.ms > PAUSE_MS && this.#pauses.length < MAX_PAUSES)
        this.#pauses.push([before.ms, after.ms]);
      if (event.kind === 'output') this.#chars += event.text.length;
      const wait = this.#screen.show(event);
      if (wait !== undefined) await wait;
      // A part begins: this frame stays when the parts before it are gone.
      if (before.offset === 0) await this.#addFrame(this.#screen, after);
    }
    this.#end = after;
  }

  /** A terminal that was just made: what was before is not there, or no longer. */
  async #begin(size: Size, place: Place): Promise<void> {
    this.#screen?.dispose();
    this.#screen = await ReplayScreen.at(size, '');
    this.#frames.dropBefore(place.part);
    await this.#addFrame(this.#screen, place);
  }

  async #addFrame(screen: ReplayScreen, place: Place): Promise<void> {
    this.#frames.add({ place, size: screen.size, state: await screen.state() });
    this.#chars = 0;
    this.#frameMs = place.ms;
  }
}

function isBehind(place: Place, end: Place): boolean {
  return place.part > end.part || (place.part === end.part && place.offset > end.offset);
}
