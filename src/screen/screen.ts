import type { Clock } from '../base/clock.js';
import { Emitter } from '../base/event.js';
import { DisposableStore, type Disposable } from '../base/lifecycle.js';
import { Emulator, type EmulatorOptions } from './emulator.js';
import { FloodBuffer } from './flood-buffer.js';
import { createSnapshot, type Snapshot } from './snapshot.js';

/** One screen frame at 60 Hz: output within it is shown at once. */
const FRAME_MS = 16;
/** In a flood nobody could read a frame: ten a second show that it goes on. */
const FLOOD_FRAME_MS = 100;
/** Of plain lines four: what is seen of them is only that they pass, and every one is kept elsewhere. */
const PLAIN_FLOOD_FRAME_MS = 250;
/** While nobody looks, frames of plain lines are not drawn: they only tell that more has come. */
const UNWATCHED_FLOOD_FRAME_MS = 500;
/** The last one is drawn when nothing has come for so long; a program on a busy machine may wait that long for its turn. */
const UNWATCHED_PAUSE_MS = 250;
/** After a frame that took long the next one waits so many times as long: the screen takes a quarter of the time at most. */
const REST_FACTOR = 3;
/** So long at most. On a busy machine a frame takes what others take, and a flood of plain lines can go unseen for longer. */
const MAX_REST_MS = FLOOD_FRAME_MS;
const MAX_PLAIN_REST_MS = 1_000;
/** Whoever waits for the program's start has been told of it by then, and the program has hardly begun to print. */
const LOAD_AFTER_MS = 50;
/** xterm.js parses what it is given in one go, and a few bytes may ask it for much (another screen, and back). */
const SLICE_BYTES = 8 * 1024;
/** How long a program may keep a synchronized update open before its half-drawn frame is shown all the same. */
const MAX_SYNCHRONIZED_MS = 500;

export interface ScreenOptions extends EmulatorOptions {
  readonly clock: Clock;
  /** Somebody looks at this screen now; left out, somebody always does. */
  readonly isWatched?: () => boolean;
}

/** A terminal without a window: what a person would see of a program's output. */
export class Screen implements Disposable {
  readonly #options: ScreenOptions;
  #made: Emulator | undefined;
  readonly #clock: Clock;
  readonly #owned = new DisposableStore();
  readonly #pending = new FloodBuffer();
  readonly #maxSliceLines: number;
  readonly #frame = this.#owned.add(new Emitter<void>());
  readonly #scrolledOff = this.#owned.add(new Emitter<readonly string[]>());
  readonly #skipped = this.#owned.add(new Emitter<number>());
  readonly #parsed = this.#owned.add(new Emitter<Buffer>());
  #whenStill: (() => void)[] = [];
  readonly #loading: Disposable;
  #timer: Disposable | undefined;
  #parsing = false;
  #waiters: (() => void)[] = [];
  #nextFrameMs = -Infinity;
  #fedMs = -Infinity;
  #frameBeganMs = 0;
  #frameMs = FRAME_MS;
  #isPlainFlood = false;
  #unfinished: Disposable | undefined;
  #snapshot: Snapshot | undefined;
  #skippedBytes = 0;
  #disposed = false;

  constructor(options: ScreenOptions) {
    this.#clock = options.clock;
    this.#options = options;
    this.#maxSliceLines = Math.max(1, Math.floor(options.scrollback / 2));
    this.#loading = this.#clock.after(LOAD_AFTER_MS, () => void this.#emulator);
  }

  /** After a batch of output was parsed, or passed over while nobody looks; the snapshot may be another one now. */
  get onFrame() {
    return this.#frame.event;
  }

  /** Lines that left the normal screen at its top, oldest first, before the frame in which they did is told. */
  get onScrolledOff() {
    return this.#scrolledOff.event;
  }

  /** Bytes of a flood that were not shown; they come before the lines that follow them. */
  get onSkipped() {
    return this.#skipped.event;
  }

  /** Each batch when it was parsed: of a flood only what was shown, so that another terminal can follow at the same pace. */
  get onParsed() {
    return this.#parsed.event;
  }

  /** All bytes of floods that were not shown. */
  get skippedBytes(): number {
    return this.#skippedBytes;
  }

  /** The program has asked for the other form of the cursor keys (DECCKM). */
  get hasApplicationCursorKeys(): boolean {
    return this.#made?.terminal.modes.applicationCursorKeysMode ?? false;
  }

  /** `isPlain` for bytes that hold nothing but lines, each of which the caller keeps: of a flood of them less is shown. */
  feed(bytes: Buffer, isPlain = false): void {
    if (this.#disposed || bytes.length === 0) return;
    this.#pending.add(bytes, isPlain, this.#rows);
    this.#fedMs = this.#clock.monotonicMs();
    this.#schedule();
  }

  /** Everything fed so far has been parsed. */
  get isUpToDate(): boolean {
    return this.#pending.isEmpty && !this.#parsing;
  }

  /** Resolves when everything fed so far has been parsed, without waiting for the next frame. */
  async settled(): Promise<void> {
    if (this.#disposed || this.isUpToDate) return;
    await new Promise<void>((resolve) => {
      this.#waiters.push(resolve);
      if (!this.#parsing) this.#parse();
    });
  }

  /** The screen as of the last frame. */
  snapshot(): Snapshot {
    return (this.#snapshot ??= this.#read());
  }

  resize(columns: number, rows: number): void {
    if (this.#disposed) return;
    this.#emulator.terminal.resize(columns, rows);
    this.#snapshot = undefined;
    this.#frame.fire();
  }

  /**
   * Calls `read` when no batch is half parsed, and what was passed over is drawn: what `onParsed` tells from then on follows
   * what `read` sees.
   */
  whenStill(read: () => void): void {
    if (this.#disposed) return;
    if (!this.#parsing && !this.#pending.isPlainFlood) return read();
    this.#whenStill.push(read);
    if (!this.#parsing) this.#parse();
  }

  /** The bytes that bring a fresh terminal of this size to this screen, with so many lines above it. */
  state(scrollback: number): string {
    return this.#emulator.serializer.state(scrollback);
  }

  /** As `state` without lines above it, with the lines of a flood that nobody has looked at: what would be shown now. */
  latestState(): string {
    return this.state(0) + this.#pending.lastPlainLines(this.#rows).toString('utf8');
  }

  /** The bytes that draw this screen into a terminal of any size. */
  picture(size: { readonly columns: number; readonly rows: number }): string {
    return this.#emulator.serializer.picture(size);
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#whenStill = [];
    this.#loading.dispose();
    this.#timer?.dispose();
    this.#unfinished?.dispose();
    this.#made?.dispose();
    this.#owned.dispose();
    this.#release();
  }

  /** Made when there is something to show, or a moment after the start: an agent is started sooner than an emulator is loaded. */
  get #emulator(): Emulator {
    return (this.#made ??= new Emulator(this.#options));
  }

  get #rows(): number {
    return this.#made?.terminal.rows ?? this.#options.rows;
  }

  #schedule(): void {
    if (this.#timer || this.#parsing || this.#pending.isEmpty) return;
    const waitMs = Math.max(0, this.#nextFrameMs - this.#clock.monotonicMs());
    this.#timer = this.#clock.after(waitMs, () => {
      this.#timer = undefined;
      if (this.#isUnseenFlood) this.#passOver();
      else this.#parse();
    });
  }

  /** A flood of plain lines goes on, and nobody looks: each is kept elsewhere, and the next ones will take its place. */
  get #isUnseenFlood(): boolean {
    const hasPaused = this.#clock.monotonicMs() - this.#fedMs >= UNWATCHED_PAUSE_MS;
    return !hasPaused && this.#pending.isPlainFlood && this.#options.isWatched?.() === false;
  }

  #passOver(): void {
    this.#nextFrameMs = this.#clock.monotonicMs() + UNWATCHED_FLOOD_FRAME_MS;
    this.#schedule();
    this.#frame.fire();
  }

  #parse(): void {
    this.#timer?.dispose();
    this.#timer = undefined;
    this.#frameBeganMs = this.#clock.monotonicMs();
    const { bytes, skippedBytes, isPlain } = this.#pending.take(this.#waiters.length > 0, this.#rows);
    this.#isPlainFlood = isPlain && skippedBytes > 0;
    this.#frameMs = skippedBytes === 0 ? FRAME_MS : isPlain ? PLAIN_FLOOD_FRAME_MS : FLOOD_FRAME_MS;
    if (skippedBytes > 0) {
      this.#skippedBytes += skippedBytes;
      this.#skipped.fire(skippedBytes);
    }
    this.#parsing = true;
    this.#parseSlices(bytes, 0);
  }

  /**
   * Slice after slice, each with fewer lines than the scrollback holds, so that none is trimmed before it is told. Between two of
   * them others have their turn.
   */
  #parseSlices(bytes: Buffer, from: number): void {
    const end = endOfLines(bytes.subarray(0, from + SLICE_BYTES), from, this.#maxSliceLines);
    this.#emulator.terminal.write(bytes.subarray(from, end), () => {
      if (this.#disposed) return;
      this.#tellScrolledOff();
      if (end < bytes.length) this.#parseSlices(bytes, end);
      else this.#endFrame(bytes);
    });
  }

  #planNext(): void {
    const nowMs = this.#clock.monotonicMs();
    const maxRestMs = this.#isPlainFlood ? MAX_PLAIN_REST_MS : MAX_REST_MS;
    const restMs = Math.min(maxRestMs, REST_FACTOR * (nowMs - this.#frameBeganMs));
    this.#nextFrameMs = Math.max(this.#frameBeganMs + this.#frameMs, nowMs + restMs);
  }

  #tellScrolledOff(): void {
    if (!this.#scrolledOff.hasListeners) return;
    const lines = this.#emulator.scrolled.take();
    if (lines.length > 0) this.#scrolledOff.fire(lines);
  }

  #endFrame(bytes: Buffer): void {
    this.#parsing = false;
    this.#planNext();
    this.#parsed.fire(bytes);
    for (const read of this.#whenStill.splice(0)) read();
    // Between the marks of a synchronized update (mode 2026) the screen is not meant to be looked at.
    if (this.#emulator.terminal.modes.synchronizedOutputMode && this.#waiters.length === 0) this.#showLater();
    else this.#show();
    if (this.#pending.isEmpty) this.#release();
    else if (this.#waiters.length > 0) this.#parse();
    else this.#schedule();
  }

  #show(): void {
    this.#unfinished?.dispose();
    this.#unfinished = undefined;
    this.#snapshot = undefined;
    this.#frame.fire();
  }

  #showLater(): void {
    this.#unfinished ??= this.#clock.after(MAX_SYNCHRONIZED_MS, () => this.#show());
  }

  #release(): void {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }

  #read(): Snapshot {
    const { columns, rows } = this.#options;
    // A program that printed nothing ends without an emulator.
    if (this.#made === undefined) {
      const lines = Array.from({ length: rows }, () => '');
      return createSnapshot({ columns, rows, lines, cursor: { column: 0, row: 0 }, alternate: false });
    }
    const { active } = this.#emulator.terminal.buffer;
    const lines = Array.from(
      { length: this.#emulator.terminal.rows },
      (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? '',
    );
    return createSnapshot({
      columns: this.#emulator.terminal.cols,
      rows: this.#emulator.terminal.rows,
      lines,
      cursor: { column: active.cursorX, row: active.cursorY },
      alternate: active.type === 'alternate',
    });
  }
}

/** The index behind the `count`th newline from `from`, or the end. */
function endOfLines(bytes: Buffer, from: number, count: number): number {
  let at = from;
  for (let line = 0; line < count; line++) {
    const newline = bytes.indexOf(0x0a, at);
    if (newline === -1) return bytes.length;
    at = newline + 1;
  }
  return at;
}
