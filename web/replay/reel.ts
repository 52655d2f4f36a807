// Pure.
import { signal } from '@preact/signals';
import type { ActionError, ClientAction, Outcome } from '../../src/board/protocol.js';
import { RecordingReader, type ReplayEvent, type Size } from './recording.js';

/** Of a longer recording the end is shown, in characters. */
const MAX_SHOWN_CHARS = 50 * 1024 * 1024;
/** A picture is made after so much time in which something was printed, or after so much text. */
const PICTURE_MS = 2_000;
const PICTURE_CHARS = 2 * 1024 * 1024;
/** Of all pictures together: beyond it every second one is dropped. */
const MAX_PICTURE_CHARS = 32 * 1024 * 1024;
/** How soon what a running task prints is seen. */
const LOOK_EVERY_MS = 500;
/** The emulator is given so much at once: each time costs it a turn of the event loop. */
const WRITE_CHARS = 256 * 1024;

/** A hidden terminal. */
export interface HiddenTerminal {
  /** Resolves when all of it was taken in. */
  write(text: string): Promise<void>;
  resize(size: Size): void;
  /** What brings a terminal of this size that was just made to the same screen. */
  state(): string;
  dispose(): void;
}

/** The screen between two events. */
interface Picture {
  /** The number of the event after it, counted from the beginning of the recording. */
  readonly next: number;
  readonly ms: number;
  readonly size: Size;
  readonly state: string;
}

/** How far a recording was read. Times are milliseconds since it began. */
export interface ReelFacts {
  /** In milliseconds since the epoch; null before anything was recorded. */
  readonly began_ms: number | null;
  /** What is before this time is not there, or is not shown. */
  readonly first_ms: number;
  /** Up to here it can be shown. */
  readonly ready_ms: number;
  /** All that was recorded so far can be shown. */
  readonly is_ready: boolean;
  /** It is longer than what is shown. */
  readonly is_cut: boolean;
  readonly error: ActionError | null;
}

export interface ReelParts {
  readonly taskId: string;
  readonly act: (action: ClientAction) => Promise<Outcome>;
  readonly openTerminal: (size: Size) => HiddenTerminal;
  readonly pause: (ms: number) => Promise<void>;
  readonly maxChars?: number;
}

/** A recording in the page: its events, and pictures of the screen along it. */
export class Reel {
  readonly facts = signal<ReelFacts>({
    began_ms: null,
    first_ms: 0,
    ready_ms: 0,
    is_ready: false,
    is_cut: false,
    error: null,
  });
  readonly #parts: ReelParts;
  readonly #reader = new RecordingReader();
  #events: ReplayEvent[] = [];
  #chars = 0;
  /** The number of the first event that is still there. */
  #first = 0;
  #pictures: Picture[] = [];
  #everyMs = PICTURE_MS;
  #terminal: HiddenTerminal | undefined;
  #size: Size = { columns: 80, rows: 24 };
  /** Not given to the terminal yet. */
  #unwritten = '';
  #printed = 0;
  #isDisposed = false;

  constructor(parts: ReelParts) {
    this.#parts = parts;
  }

  /** Reads the recording, and what is added to it as long as `isLive` says so. */
  async read(isLive: () => boolean): Promise<void> {
    for (let isLast = false; !isLast && !this.#isDisposed;) {
      // Before the look: what was written before the end is read by it.
      isLast = !isLive();
      if (!(await this.#readNews())) return;
      this.#tell({ is_ready: true });
      if (!isLast) await this.#parts.pause(LOOK_EVERY_MS);
    }
  }

  /** What shows a moment: the screen at a picture before it, and the number of the event that follows it. */
  before(ms: number): Pick<Picture, 'size' | 'state' | 'next'> | undefined {
    return this.#pictures.findLast((picture) => picture.ms <= ms) ?? this.#pictures[0];
  }

  /** Undefined where there is none yet, and for one that is shown no longer. */
  event(number: number): ReplayEvent | undefined {
    return this.#events[number - this.#first];
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#terminal?.dispose();
  }

  /** False when there was an error. */
  async #readNews(): Promise<boolean> {
    const { taskId, act } = this.#parts;
    for (;;) {
      const outcome = await act({ type: 'replay.read', task_id: taskId, ...this.#reader.place });
      if (this.#isDisposed) return false;
      if (!outcome.ok) {
        this.#tell({ error: outcome.error });
        return false;
      }
      const { piece } = outcome;
      if (piece === undefined || piece.to === piece.from) return true;
      for (const event of this.#reader.take(piece)) await this.#take(event);
      if (this.#isDisposed) return false;
      this.#cut();
      this.#tell({});
    }
  }

  async #take(event: ReplayEvent): Promise<void> {
    await this.#pictureBefore(event);
    this.#events.push(event);
    if (event.kind === 'output') {
      this.#chars += event.text.length;
      this.#printed += event.text.length;
      this.#unwritten += event.text;
      if (this.#unwritten.length >= WRITE_CHARS) await this.#write();
      return;
    }
    await this.#write();
    this.#size = event.size;
    if (event.kind === 'resize') return this.#terminal?.resize(event.size);
    this.#terminal?.dispose();
    this.#terminal = this.#parts.openTerminal(event.size);
    this.#add(event.ms, '');
  }

  async #pictureBefore({ ms }: ReplayEvent): Promise<void> {
    const last = this.#pictures.at(-1);
    const isDue = ms - (last?.ms ?? 0) >= this.#everyMs || this.#printed >= PICTURE_CHARS;
    if (this.#terminal === undefined || this.#printed === 0 || !isDue) return;
    await this.#write();
    this.#add(this.#events.at(-1)?.ms ?? ms, this.#terminal.state());
  }

  #add(ms: number, state: string): void {
    this.#pictures.push({ next: this.#first + this.#events.length, ms, size: this.#size, state });
    this.#printed = 0;
    const chars = this.#pictures.reduce((sum, picture) => sum + picture.state.length, 0);
    if (chars <= MAX_PICTURE_CHARS) return;
    this.#everyMs *= 2;
    this.#pictures = this.#pictures.filter((_picture, number) => number % 2 === 0);
  }

  async #write(): Promise<void> {
    const text = this.#unwritten;
    this.#unwritten = '';
    if (text !== '') await this.#terminal?.write(text);
  }

  /** What is over goes, up to a picture. */
  #cut(): void {
    const { maxChars = MAX_SHOWN_CHARS } = this.#parts;
    while (this.#chars > maxChars) {
      const next = this.#pictures[1]?.next;
      if (next === undefined) return;
      this.#pictures.shift();
      for (const event of this.#events.splice(0, next - this.#first))
        if (event.kind === 'output') this.#chars -= event.text.length;
      this.#first = next;
    }
  }

  #tell(news: Partial<ReelFacts>): void {
    const { beganMs, endMs } = this.#reader;
    this.facts.value = {
      ...this.facts.value,
      began_ms: beganMs ?? null,
      first_ms: this.#pictures[0]?.ms ?? 0,
      ready_ms: endMs,
      is_cut: this.#first > 0,
      ...news,
    };
  }
}
