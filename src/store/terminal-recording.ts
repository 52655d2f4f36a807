import { StringDecoder } from 'node:string_decoder';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/lifecycle.js';
import { AppendFile, type FlushResult } from './append-file.js';
import { RotatedPair } from './rotated-pair.js';

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
/** While the disk fails, the newest of this much is kept for it, and it is tried again so often. */
const KEPT_WHILE_FAILING_BYTES = 1024 * 1024;
const RETRY_MS = 1_000;

export interface TerminalRecordingOptions {
  readonly path: string;
  /** Bound of the recording and its rotated predecessor together. */
  readonly maxBytes: number;
  readonly columns: number;
  readonly rows: number;
  readonly clock: Clock;
  /** Called each time that writing begins to fail. Must not throw. */
  readonly onError: (error: unknown) => void;
  /** Called when the recording was removed while it was in use. Must not throw. */
  readonly onRemoved?: () => void;
  /** What brings a fresh terminal to what is shown now; called when a file begins in the middle of the session. */
  readonly state?: () => string;
}

/**
 * Records a terminal as asciicast v2 (https://docs.asciinema.org/manual/asciicast/v2/), from its first output on. A rotated file
 * has a header of its own, begins with what was shown (alternate screen, cursor, modes), and so plays without the older one.
 * Bytes that are no UTF-8 become U+FFFD, as the format is text.
 */
export class TerminalRecording {
  readonly #file: AppendFile;
  readonly #clock: Clock;
  readonly #state: () => string;
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
  /** There is output, in this file or one before. */
  #hasBegun = false;
  /** When this file's recording began. */
  #baseMs = 0;

  constructor(options: TerminalRecordingOptions) {
    const { path, maxBytes, onError, onRemoved, clock, columns, rows, state = () => '' } = options;
    this.#clock = clock;
    this.#columns = columns;
    this.#rows = rows;
    this.#state = state;
    this.#maxStateBytes = Math.floor(maxBytes / STATE_SHARE);
    this.#maxEventBytes = Math.max(
      MIN_EVENT_BYTES,
      Math.min(EVENT_BYTES, Math.floor(maxBytes / BOUND_SHARE)),
    );
    this.#file = new AppendFile({
      parts: new RotatedPair(path, maxBytes),
      keptBytes: KEPT_WHILE_FAILING_BYTES,
      retryMs: RETRY_MS,
      header: () => this.#header(),
      clock,
      onError,
      ...(onRemoved && { onRemoved }),
    });
  }

  /** Bytes of the recording that the disk did not take. */
  get lostBytes(): number {
    return this.#file.lostBytes;
  }

  /** Copies the bytes. Returns a promise, which never rejects, when the source should wait for the disk. */
  output(bytes: Buffer): Promise<void> | undefined {
    let wait: Promise<void> | undefined;
    for (let from = 0; from < bytes.length;) {
      this.#beginEvent();
      const piece = bytes.subarray(from, from + this.#maxEventBytes - this.#eventBytes);
      this.#text += this.#decoder.write(piece);
      this.#eventBytes += piece.length;
      from += piece.length;
      if (this.#eventBytes >= this.#maxEventBytes) wait = this.#endEvent();
    }
    return wait;
  }

  /** Text that was typed. */
  typed(text: string): void {
    void this.#endEvent();
    if (this.#hasBegun) void this.#write('i', text, this.#clock.monotonicMs());
  }

  resized(columns: number, rows: number): void {
    void this.#endEvent();
    this.#columns = columns;
    this.#rows = rows;
    if (this.#hasBegun) void this.#write('r', `${columns}x${rows}`, this.#clock.monotonicMs());
  }

  /** Resolves when all that was recorded is in the file, or the disk does not take it now. */
  flush(): Promise<FlushResult> {
    void this.#endEvent();
    return this.#file.flush();
  }

  async close(): Promise<void> {
    this.#text += this.#decoder.end();
    void this.#endEvent();
    await this.#file.close();
  }

  #beginEvent(): void {
    if (this.#timer) return;
    this.#eventMs = this.#clock.monotonicMs();
    this.#timer = this.#clock.after(EVENT_MS, () => void this.#endEvent());
  }

  /** Writes what is collected. The beginning of a character whose rest has not come yet stays in the decoder. */
  #endEvent(): Promise<void> | undefined {
    this.#timer?.dispose();
    this.#timer = undefined;
    const text = this.#text;
    this.#text = '';
    this.#eventBytes = 0;
    return text === '' ? undefined : this.#write('o', text, this.#eventMs);
  }

  #write(kind: 'o' | 'i' | 'r', text: string, atMs: number): Promise<void> | undefined {
    const json = JSON.stringify(text);
    // A file that begins with this event sets the time from which it counts.
    this.#file.makeRoom(Buffer.byteLength(json) + HEAD_BYTES);
    return this.#file.write(`[${this.#secondsAt(atMs)}, "${kind}", ${json}]\n`);
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
    // The first file begins with the session itself, which its own output shows; some of that is drawn already.
    const state = this.#hasBegun ? this.#state() : '';
    this.#hasBegun = true;
    const event = state === '' ? '' : `[0, "o", ${JSON.stringify(state)}]\n`;
    return `${JSON.stringify(header)}\n${Buffer.byteLength(event) <= this.#maxStateBytes ? event : ''}`;
  }
}
