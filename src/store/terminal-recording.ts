import { StringDecoder } from 'node:string_decoder';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/lifecycle.js';
import { RotatingFile } from './rotating-file.js';

/** Output within a frame is one event: nobody could see its parts apart. */
const EVENT_MS = 16;
/** A burst has more events than one a frame. */
const EVENT_BYTES = 64 * 1024;
/** Small bounds get small events: escaped and with its brackets, one fills at most an eighth of the bound. */
const BOUND_SHARE = 64;
/** A small event has room for the longest character. */
const MIN_EVENT_BYTES = 8;
/** Room for the brackets, the time and the kind of an event. */
const HEAD_BYTES = 64;
/** What is shown takes at most this part of the bound; a small bound is for what happens next. */
const STATE_SHARE = 8;

export interface TerminalRecordingOptions {
  readonly path: string;
  /** Bound of the recording and its rotated predecessor together. */
  readonly maxBytes: number;
  readonly columns: number;
  readonly rows: number;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
  /** What brings a fresh terminal to what is shown now; called when a file begins, empty at the very beginning. */
  readonly initialState?: () => string;
}

/**
 * Records a terminal as asciicast v2 (https://docs.asciinema.org/manual/asciicast/v2/). A rotated file has a header of its
 * own, begins with what was shown (alternate screen, cursor, modes), and so plays without the older one. Bytes that are no
 * UTF-8 become U+FFFD, as the format is text.
 */
export class TerminalRecording {
  readonly #file: RotatingFile;
  readonly #clock: Clock;
  readonly #initialState: () => string;
  readonly #maxStateBytes: number;
  readonly #maxEventBytes: number;
  readonly #decoder = new StringDecoder('utf8');
  /** The event that is being collected: its text, how many bytes it came in, and when the first of them came. */
  #text = '';
  #eventBytes = 0;
  #eventMs = 0;
  #timer: Disposable | undefined;
  #columns: number;
  #rows: number;
  /** When this file's recording began. */
  #baseMs = 0;

  constructor(options: TerminalRecordingOptions) {
    this.#clock = options.clock;
    this.#columns = options.columns;
    this.#rows = options.rows;
    const { path, maxBytes, onError, clock, initialState = () => '' } = options;
    this.#initialState = initialState;
    this.#maxStateBytes = Math.floor(maxBytes / STATE_SHARE);
    this.#maxEventBytes = Math.max(
      MIN_EVENT_BYTES,
      Math.min(EVENT_BYTES, Math.floor(maxBytes / BOUND_SHARE)),
    );
    this.#file = new RotatingFile({ path, maxBytes, onError, clock, header: () => this.#header() });
  }

  /** So much waits for the disk that the source should pause until `onDrain`. */
  get isFull(): boolean {
    return this.#file.isFull;
  }

  get onDrain() {
    return this.#file.onDrain;
  }

  /** Bytes of the recording that the disk did not take. */
  get lostBytes(): number {
    return this.#file.lostBytes;
  }

  output(bytes: Buffer): void {
    for (let from = 0; from < bytes.length;) {
      this.#beginEvent();
      const piece = bytes.subarray(from, from + this.#maxEventBytes - this.#eventBytes);
      this.#text += this.#decoder.write(piece);
      this.#eventBytes += piece.length;
      from += piece.length;
      if (this.#eventBytes >= this.#maxEventBytes) this.#endEvent();
    }
  }

  /** Text that was typed. */
  input(text: string): void {
    this.#endEvent();
    this.#write('i', text, this.#clock.monotonicMs());
  }

  resize(columns: number, rows: number): void {
    this.#endEvent();
    this.#columns = columns;
    this.#rows = rows;
    this.#write('r', `${columns}x${rows}`, this.#clock.monotonicMs());
  }

  /** Resolves when all that was recorded is in the file. */
  async flush(): Promise<void> {
    this.#endEvent();
    await this.#file.flush();
  }

  async close(): Promise<void> {
    this.#text += this.#decoder.end();
    this.#endEvent();
    await this.#file.close();
  }

  #beginEvent(): void {
    if (this.#timer) return;
    this.#eventMs = this.#clock.monotonicMs();
    this.#timer = this.#clock.after(EVENT_MS, () => this.#endEvent());
  }

  /** Writes what is collected. The beginning of a character whose rest has not come yet stays in the decoder. */
  #endEvent(): void {
    this.#timer?.dispose();
    this.#timer = undefined;
    const text = this.#text;
    this.#text = '';
    this.#eventBytes = 0;
    if (text !== '') this.#write('o', text, this.#eventMs);
  }

  #write(kind: 'o' | 'i' | 'r', text: string, atMs: number): void {
    const json = JSON.stringify(text);
    // A file that begins with this event sets the time from which it counts.
    this.#file.makeRoom(Buffer.byteLength(json) + HEAD_BYTES);
    this.#file.write(`[${this.#secondsAt(atMs)}, "${kind}", ${json}]\n`);
  }

  /** Since this file's beginning; output that came just before belongs to its first moment. */
  #secondsAt(atMs: number): number {
    return Math.max(0, Math.round(atMs - this.#baseMs)) / 1000;
  }

  /** Called when a file begins; its events count from here. */
  #header(): string {
    this.#baseMs = this.#clock.monotonicMs();
    const header = {
      version: 2,
      width: this.#columns,
      height: this.#rows,
      timestamp: Math.floor(this.#clock.now() / 1000),
      env: { TERM: 'xterm-256color' },
    };
    const state = this.#initialState();
    const event = state === '' ? '' : `[0, "o", ${JSON.stringify(state)}]\n`;
    return `${JSON.stringify(header)}\n${Buffer.byteLength(event) <= this.#maxStateBytes ? event : ''}`;
  }
}
