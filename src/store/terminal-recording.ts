import { StringDecoder } from 'node:string_decoder';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/lifecycle.js';
import { AppendFile, rotatedPair, type FlushResult } from './append-file.js';

/** Output within one frame becomes one event: no one could see its parts separately. */
const EVENT_MS = 16;
/** In a burst an event ends earlier, at this size. */
const EVENT_BYTES = 64 * 1024;
/** Small bounds get small events: with escapes and brackets, one fills at most an eighth of the bound. */
const BOUND_SHARE = 64;
/** Enough for the longest character. */
const MIN_EVENT_BYTES = 8;
/** For the brackets, the time and the kind of an event. */
const HEAD_BYTES = 64;
/** The initial state takes at most this share of the bound, to leave space for what happens next. */
const STATE_SHARE = 8;
/** While the disk fails, this much of the newest output stays queued. */
const KEPT_WHILE_FAILING_BYTES = 1024 * 1024;

export interface TerminalRecordingOptions {
  readonly path: string;
  /** The bound of both files together. */
  readonly maxBytes: number;
  readonly columns: number;
  readonly rows: number;
  readonly clock: Clock;
  /** Called each time writing starts to fail. Must not throw. */
  readonly onError: (error: unknown) => void;
  /** Called when the recording was removed while in use. Must not throw. */
  readonly onRemoved?: () => void;
  /** Returns the bytes that bring a fresh terminal to the current screen; called when a file begins in the middle of the session. */
  readonly state: () => string;
}

/**
 * Records a terminal as asciicast v2 (https://docs.asciinema.org/manual/asciicast/v2/), from its first output on. Each rotated file
 * has its own header and begins with the current screen (alternate screen, cursor, modes), so it plays without the older one. The
 * format is text: invalid UTF-8 becomes U+FFFD.
 */
export class TerminalRecording {
  readonly #options: TerminalRecordingOptions;
  readonly #file: AppendFile;
  readonly #maxEventBytes: number;
  readonly #decoder = new StringDecoder('utf8');
  /** The event that is being collected: its text, its bytes, and the time of the first byte. */
  #text = '';
  #eventBytes = 0;
  #eventMs = 0;
  #timer: Disposable | undefined;
  #size: { readonly columns: number; readonly rows: number };
  /** There was output, in this file or an earlier one. */
  #hasBegun = false;
  /** There was output in an earlier file. */
  #isRotated = false;
  /** When this file began. */
  #baseMs: number;

  constructor(options: TerminalRecordingOptions) {
    const { path, maxBytes, onError, onRemoved, clock, columns, rows } = options;
    this.#options = options;
    this.#size = { columns, rows };
    this.#baseMs = clock.monotonicMs();
    const eventBytes = Math.min(EVENT_BYTES, Math.floor(maxBytes / BOUND_SHARE));
    this.#maxEventBytes = Math.max(MIN_EVENT_BYTES, eventBytes);
    this.#file = new AppendFile({
      parts: rotatedPair(path, Math.floor(maxBytes / 2)),
      keptBytes: KEPT_WHILE_FAILING_BYTES,
      header: () => this.#header(),
      clock,
      onError,
      onRemoved,
    });
  }

  /** Bytes of the recording that were not written. */
  get lostBytes(): number {
    return this.#file.lostBytes;
  }

  /** Copies the bytes; they are in the file within a frame. The source never waits. */
  output(bytes: Uint8Array): undefined {
    for (let from = 0; from < bytes.length;) {
      if (this.#timer === undefined) {
        this.#eventMs = this.#options.clock.monotonicMs();
        this.#timer = this.#options.clock.after(EVENT_MS, () => this.#endEvent());
      }
      const piece = bytes.subarray(from, from + this.#maxEventBytes - this.#eventBytes);
      this.#text += this.#decoder.write(piece);
      this.#eventBytes += piece.length;
      from += piece.length;
      if (this.#eventBytes >= this.#maxEventBytes) this.#endEvent();
    }
    return undefined;
  }

  /** Records typed text. */
  typed(text: string): void {
    this.#endEvent();
    if (this.#hasBegun) this.#write('i', text, this.#options.clock.monotonicMs());
  }

  resized(columns: number, rows: number): void {
    this.#endEvent();
    this.#size = { columns, rows };
    if (this.#hasBegun) this.#write('r', `${columns}x${rows}`, this.#options.clock.monotonicMs());
  }

  /** Writes what is collected, and what waits for the disk. */
  flush(): Promise<FlushResult> {
    this.#endEvent();
    return this.#file.flush();
  }

  async close(): Promise<void> {
    this.#text += this.#decoder.end();
    this.#endEvent();
    await this.#file.close();
  }

  /** Writes the collected event. An incomplete character stays in the decoder. */
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
    // If this event begins a new file, the file's time base is set before the event's time is computed.
    this.#file.makeRoom(Buffer.byteLength(json) + HEAD_BYTES);
    // In a file that may begin with a state, only that is at 0, also where output came just before.
    const ms = Math.max(this.#isRotated ? 1 : 0, Math.round(atMs - this.#baseMs));
    this.#file.write(`[${ms / 1000}, "${kind}", ${json}]\n`);
  }

  /** Called when a file begins; its events count from now, or, where some wait for the disk, from the beginning of the file before. */
  #header(): string {
    const { clock, state, maxBytes } = this.#options;
    const nowMs = clock.monotonicMs();
    if (!this.#file.isFailing) this.#baseMs = nowMs;
    this.#isRotated = this.#hasBegun;
    const beganMs = Math.round(clock.now() - (nowMs - this.#baseMs));
    const header = {
      version: 2,
      width: this.#size.columns,
      height: this.#size.rows,
      timestamp: Math.floor(beganMs / 1000),
      // Not of the format, whose seconds are too coarse to find the events of the journal in it.
      began_ms: beganMs,
      env: { TERM: 'xterm-256color' },
    };
    // The first file needs no state: it holds all output of the session, some of which is already drawn.
    const screen = this.#hasBegun ? state() : '';
    this.#hasBegun = true;
    const event = screen === '' ? '' : `[0, "o", ${JSON.stringify(screen)}]\n`;
    const isShort = Buffer.byteLength(event) <= Math.floor(maxBytes / STATE_SHARE);
    return `${JSON.stringify(header)}\n${isShort ? event : ''}`;
  }
}
