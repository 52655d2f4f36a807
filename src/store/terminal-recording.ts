import { isUtf8 } from 'node:buffer';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/lifecycle.js';
import { incompleteTail } from '../base/json-text.js';
import { jsonTextWriter, type JsonTextWriter } from '../base/json-text-writer.js';
import { RotatingFile } from './rotating-file.js';

/** Output within a frame is one event: nobody could see its parts apart. */
const EVENT_MS = 16;
/** Of a flood, which brings it in less time: a write this long takes the system two thirds of what as much in pieces of 64 KB takes. */
const EVENT_BYTES = 256 * 1024;
/** Small bounds get small events: escaped and with its brackets, one fills at most an eighth of the bound. */
const BOUND_SHARE = 64;
/** An event has room for the longest incomplete character, and a word is four bytes. */
const MIN_EVENT_BYTES = 8;
/** What is shown takes at most this part of the bound; a small bound is for what happens next. */
const STATE_SHARE = 8;
/** Room before an event's text for `[`, the time and the kind. */
const HEAD_BYTES = 64;
const TAIL = Buffer.from('"]\n');

export interface TerminalRecordingOptions {
  readonly path: string;
  /** Bound of the recording and its rotated predecessor together. */
  readonly maxBytes: number;
  readonly columns: number;
  readonly rows: number;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
  /** What brings a fresh terminal to what is shown now; asked when a file begins, empty at the very beginning. */
  readonly initialState?: () => string;
}

/**
 * Records a terminal as asciicast v2 (https://docs.asciinema.org/manual/asciicast/v2/). A rotated file has a header of its
 * own, begins with what was shown (alternate screen, cursor, modes), and so plays by itself. Bytes that are no UTF-8 become U+FFFD, as the format is text.
 */
export class TerminalRecording {
  readonly #file: RotatingFile;
  readonly #clock: Clock;
  readonly #initialState: () => string;
  readonly #maxStateBytes: number;
  /** What is collected for the next event, and the event as it goes to the file. */
  readonly #text: JsonTextWriter;
  /** How far the source is filled, known to be UTF-8, and written to the target. */
  #length = 0;
  #validTo = 0;
  #encodedTo = 0;
  #targetEnd = HEAD_BYTES;
  #timer: Disposable | undefined;
  #columns: number;
  #rows: number;
  /** When this file's recording began, and when the first byte of the event that is collected came. */
  #baseMs = 0;
  #eventMs = 0;

  constructor(options: TerminalRecordingOptions) {
    this.#clock = options.clock;
    this.#columns = options.columns;
    this.#rows = options.rows;
    const { path, maxBytes, onError, clock, initialState = () => '' } = options;
    this.#initialState = initialState;
    this.#maxStateBytes = Math.floor(maxBytes / STATE_SHARE);
    const eventBytes = Math.max(MIN_EVENT_BYTES, Math.min(EVENT_BYTES, Math.floor(maxBytes / BOUND_SHARE)));
    this.#text = jsonTextWriter(Math.ceil(eventBytes / 4) * 4, HEAD_BYTES + TAIL.length);
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

  /**
   * Written piece by piece as it comes: while one piece of 4 KB is escaped the kernel makes the next one ready, but no more
   * than that, so a whole event at once would hold the terminal up.
   */
  output(bytes: Buffer): void {
    for (let from = 0; from < bytes.length;) {
      this.#begin();
      const copied = bytes.copy(this.#text.source, this.#length, from);
      this.#length += copied;
      from += copied;
      this.#encode(false);
      if (this.#length === this.#text.source.length) this.#endEvent();
    }
  }

  /** Text that was typed. */
  input(text: string): void {
    this.#endEvent();
    this.#event('i', text);
  }

  resize(columns: number, rows: number): void {
    this.#endEvent();
    this.#columns = columns;
    this.#rows = rows;
    this.#event('r', `${columns}x${rows}`);
  }

  /** Resolves when all that was recorded is in the file. */
  async flush(): Promise<void> {
    this.#endEvent();
    await this.#file.flush();
  }

  async close(): Promise<void> {
    this.#endEvent();
    this.#timer?.dispose();
    const rest = this.#text.source.toString('utf8', 0, this.#length);
    this.#length = 0;
    if (rest !== '') this.#event('o', rest);
    await this.#file.close();
  }

  #begin(): void {
    if (this.#timer) return;
    this.#eventMs = this.#clock.monotonicMs();
    this.#timer = this.#clock.after(EVENT_MS, () => {
      this.#timer = undefined;
      this.#endEvent();
    });
  }

  /** Escapes what is new, up to the last whole word, or (`all`) character. Stops for good at what is no UTF-8. */
  #encode(all: boolean): void {
    const { source: bytes } = this.#text;
    const wholeTo = this.#length - incompleteTail(bytes.subarray(this.#validTo, this.#length));
    if (wholeTo > this.#validTo && isUtf8(bytes.subarray(this.#validTo, wholeTo))) this.#validTo = wholeTo;
    const to = all ? this.#validTo : this.#validTo - (this.#validTo % 4);
    if (to <= this.#encodedTo) return;
    this.#targetEnd = this.#text.write(this.#encodedTo, to, this.#targetEnd);
    this.#encodedTo = to;
  }

  /** Writes what is collected, but for the beginning of a character whose rest has not come yet. */
  #endEvent(): void {
    const { source: bytes } = this.#text;
    const rest = incompleteTail(bytes.subarray(0, this.#length));
    const whole = this.#length - rest;
    if (whole === 0) return;
    this.#encode(true);
    if (this.#encodedTo === whole) this.#writeEncoded();
    else this.#write('o', JSON.stringify(bytes.toString('utf8', 0, whole)), this.#eventMs);
    bytes.copyWithin(0, whole, this.#length);
    this.#length = rest;
    this.#validTo = 0;
    this.#encodedTo = 0;
    this.#targetEnd = HEAD_BYTES;
    this.#eventMs = this.#clock.monotonicMs();
  }

  #writeEncoded(): void {
    const { target } = this.#text;
    const end = this.#targetEnd + TAIL.copy(target, this.#targetEnd);
    this.#file.makeRoom(end);
    const head = `[${this.#secondsAt(this.#eventMs)}, "o", "`;
    const start = HEAD_BYTES - head.length;
    target.write(head, start, 'latin1');
    this.#file.write(target.subarray(start, end));
  }

  #event(kind: 'o' | 'i' | 'r', text: string): void {
    this.#write(kind, JSON.stringify(text), this.#clock.monotonicMs());
  }

  #write(kind: 'o' | 'i' | 'r', json: string, atMs: number): void {
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
