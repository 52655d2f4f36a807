import { StringDecoder } from 'node:string_decoder';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/lifecycle.js';
import { RotatingFile } from './rotating-file.js';

/** Output within a frame is one event: nobody could see its parts apart. */
const EVENT_MS = 16;
const EVENT_BYTES = 64 * 1024;
/** Small bounds get small events: one byte may become six in JSON, and an event fills at most an eighth of the bound. */
const BOUND_SHARE = 48;

export interface TerminalRecordingOptions {
  readonly path: string;
  /** Bound of the recording and its rotated predecessor together. */
  readonly maxBytes: number;
  readonly columns: number;
  readonly rows: number;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/**
 * Records a terminal as asciicast v2 (https://docs.asciinema.org/manual/asciicast/v2/). A rotated file has a header of its
 * own and plays by itself. Bytes that are no UTF-8 become U+FFFD, as the format is text.
 */
export class TerminalRecording {
  readonly #file: RotatingFile;
  readonly #clock: Clock;
  readonly #decoder = new StringDecoder('utf8');
  readonly #buffer: Buffer;
  #used = 0;
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
    const { path, maxBytes, onError, clock } = options;
    this.#buffer = Buffer.allocUnsafe(Math.max(1, Math.min(EVENT_BYTES, Math.floor(maxBytes / BOUND_SHARE))));
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
      if (this.#used === 0) this.#begin();
      const copied = bytes.copy(this.#buffer, this.#used, from);
      this.#used += copied;
      from += copied;
      if (this.#used === this.#buffer.length) this.#endEvent();
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
    const rest = this.#decoder.end();
    if (rest !== '') this.#event('o', rest);
    await this.#file.close();
  }

  #begin(): void {
    this.#eventMs = this.#clock.monotonicMs();
    this.#timer ??= this.#clock.after(EVENT_MS, () => {
      this.#timer = undefined;
      this.#endEvent();
    });
  }

  #endEvent(): void {
    if (this.#used === 0) return;
    const text = this.#decoder.write(this.#buffer.subarray(0, this.#used));
    this.#used = 0;
    if (text !== '') this.#write('o', JSON.stringify(text), this.#eventMs);
  }

  #event(kind: 'o' | 'i' | 'r', text: string): void {
    this.#write(kind, JSON.stringify(text), this.#clock.monotonicMs());
  }

  #write(kind: 'o' | 'i' | 'r', json: string, atMs: number): void {
    this.#file.makeRoom(Buffer.byteLength(json) + EVENT_FRAME_BYTES);
    const seconds = Math.max(0, Math.round(atMs - this.#baseMs)) / 1000;
    this.#file.write(`[${seconds}, "${kind}", ${json}]\n`);
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
    return `${JSON.stringify(header)}\n`;
  }
}

/** Brackets, kind, time and newline around an event's text. */
const EVENT_FRAME_BYTES = 64;
