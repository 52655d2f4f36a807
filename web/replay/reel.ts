// Pure.
import { signal } from '@preact/signals';
import type { ActionError, ClientAction, Outcome } from '../../src/board/protocol.js';
import { RecordingReader, type ReplayEvent, type Size } from './recording.js';

/** Of a longer recording the end is shown, in characters. */
const MAX_SHOWN_CHARS = 50 * 1024 * 1024;
/** So many pictures are made of the longest one that is shown: a moment is drawn from at most this part of it. */
const PICTURES = 200;

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
  /** Between two looks at what a running task prints. */
  readonly pause: () => Promise<void>;
  readonly maxChars?: number;
}

/** A recording in the page: its events, and pictures of the screen along it. */
export class Reel {
  readonly facts = signal<ReelFacts>({
    ...{ began_ms: null, first_ms: 0, ready_ms: 0, is_ready: false, is_cut: false, error: null },
  });
  readonly #parts: ReelParts;
  readonly #maxChars: number;
  readonly #reader = new RecordingReader();
  readonly #events: ReplayEvent[] = [];
  #chars = 0;
  /** The number of the first event that is still there. */
  #first = 0;
  readonly #pictures: Picture[] = [];
  #terminal: HiddenTerminal | undefined;
  #size: Size = { columns: 80, rows: 24 };
  /** Printed since the last picture, and not given to the terminal yet: each time costs it a turn of the event loop. */
  #unwritten = '';
  #isDisposed = false;

  constructor(parts: ReelParts) {
    this.#parts = parts;
    this.#maxChars = parts.maxChars ?? MAX_SHOWN_CHARS;
  }

  /** Reads the recording, and what is added to it as long as `isLive` says so. */
  async read(isLive: () => boolean): Promise<void> {
    while (!this.#isDisposed && this.facts.value.error === null) {
      // Before the look: what was written before the end is read by it.
      const isLast = !isLive();
      if (await this.#readPiece()) continue;
      if (isLast) return;
      await this.#parts.pause();
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

  /** False where nothing more is written. */
  async #readPiece(): Promise<boolean> {
    const { taskId, act } = this.#parts;
    const outcome = await act({ type: 'replay.read', task_id: taskId, ...this.#reader.place });
    const piece = outcome.ok ? outcome.piece : undefined;
    const isMore = piece !== undefined && piece.to > piece.from;
    for (const event of isMore ? this.#reader.take(piece) : []) {
      if (this.#isDisposed) return false;
      await this.#take(event);
    }
    this.#cut();
    const { beganMs, endMs } = this.#reader;
    this.facts.value = {
      began_ms: beganMs ?? null,
      first_ms: this.#pictures[0]?.ms ?? 0,
      ready_ms: endMs,
      is_ready: this.facts.value.is_ready || (outcome.ok && !isMore),
      is_cut: this.#first > 0,
      error: outcome.ok ? null : outcome.error,
    };
    return isMore;
  }

  async #take(event: ReplayEvent): Promise<void> {
    this.#events.push(event);
    if (event.kind === 'output') {
      this.#chars += event.text.length;
      this.#unwritten += event.text;
      if (this.#unwritten.length < this.#maxChars / PICTURES) return;
      await this.#write();
      return this.#add(event.ms, this.#terminal?.state() ?? '');
    }
    await this.#write();
    this.#size = event.size;
    if (event.kind === 'resize') return this.#terminal?.resize(event.size);
    this.#terminal?.dispose();
    this.#terminal = this.#parts.openTerminal(event.size);
    this.#add(event.ms, '');
  }

  #add(ms: number, state: string): void {
    this.#pictures.push({ next: this.#first + this.#events.length, ms, size: this.#size, state });
  }

  async #write(): Promise<void> {
    const text = this.#unwritten;
    this.#unwritten = '';
    if (text !== '') await this.#terminal?.write(text);
  }

  /** What is over goes, up to a picture. */
  #cut(): void {
    for (let next = this.#pictures[1]?.next; this.#chars > this.#maxChars && next !== undefined;) {
      this.#pictures.shift();
      for (const event of this.#events.splice(0, next - this.#first))
        if (event.kind === 'output') this.#chars -= event.text.length;
      this.#first = next;
      next = this.#pictures[1]?.next;
    }
  }
}
