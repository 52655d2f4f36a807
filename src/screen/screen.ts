import { Backlog, Emitter, DisposableStore, type Disposable } from '../base/lifecycle.js';
import type { Clock } from '../base/clock.js';
import { openEmulator, type Emulator, type EmulatorOptions } from './emulator.js';
import { unfinished } from './safe-output.js';
import type { ScrolledOff } from './scrolled-lines.js';

/** One frame at 60 Hz: output within it is shown together. */
const FRAME_MS = 16;
/** Above the high mark of unparsed bytes the source should pause; below the low mark it may go on. xterm.js parses some 40 MB/s. */
const HIGH_WATER_BYTES = 512 * 1024;
const LOW_WATER_BYTES = 128 * 1024;
/** The emulator is created this long after the start, so that it does not delay the program. */
const LOAD_AFTER_MS = 50;
/** xterm.js parses each write without a pause, and a few bytes may cause much work (switching screens back and forth). */
const SLICE_BYTES = 8 * 1024;
/** After this time a half-drawn frame is shown although the program has not ended its synchronized update. */
const MAX_SYNCHRONIZED_MS = 500;
/** A longer incomplete sequence is passed to the terminal as it is. */
const MAX_INCOMPLETE_BYTES = 4096;
const NOTHING = Buffer.alloc(0);

/** What a person would see at one moment. It never changes. */
export interface Snapshot {
  readonly columns: number;
  readonly rows: number;
  /** The text of each row, from the top, without trailing blanks. */
  readonly lines: readonly string[];
  /** Rows that go on with the line of the row above. */
  readonly wrapped: readonly number[];
  /** From 0, relative to this snapshot. */
  readonly cursor: { readonly column: number; readonly row: number };
  /** The lines joined by newlines, without blank ones at the end. */
  text(): string;
}

export interface ScreenOptions extends EmulatorOptions {
  readonly clock: Clock;
}

/** A terminal without a window: what a person would see of a program's output. */
export class Screen implements Disposable {
  readonly #options: ScreenOptions;
  readonly #clock: Clock;
  readonly #owned = new DisposableStore();
  readonly #maxSliceLines: number;
  readonly #frame = this.#owned.add(new Emitter<void>());
  /** Fires after a batch of output was parsed; the snapshot may have changed. */
  readonly onFrame = this.#frame.event;
  readonly #scrolledOff = this.#owned.add(new Emitter<ScrolledOff>());
  /** Fires when lines have left the top of the normal screen, before the frame of that output. */
  readonly onScrolledOff = this.#scrolledOff.event;
  readonly #batch = this.#owned.add(new Emitter<Buffer>());
  /** Fires with each batch just before it is parsed; together the batches are everything that was fed. */
  readonly onBatch = this.#batch.event;
  readonly #loading: Disposable;
  #made: Emulator | undefined;
  /** Bytes that were fed and are not in a batch yet. */
  #pending: Buffer[] = [];
  /** The incomplete escape sequence after the last batch. */
  #incomplete = NOTHING;
  readonly #unparsed = new Backlog({ highBytes: HIGH_WATER_BYTES, lowBytes: LOW_WATER_BYTES });
  #timer: Disposable | undefined;
  #isParsing = false;
  #whenStill: (() => void)[] = [];
  #waiters: (() => void)[] = [];
  #nextFrameMs = -Infinity;
  #unfinished: Disposable | undefined;
  #snapshot: Snapshot | undefined;
  #isDisposed = false;

  constructor(options: ScreenOptions) {
    this.#clock = options.clock;
    this.#options = options;
    this.#maxSliceLines = Math.max(1, Math.floor(options.scrollback / 2));
    this.#loading = this.#clock.after(LOAD_AFTER_MS, () => void this.#emulator);
  }

  /** The program has switched the cursor keys to application mode (DECCKM). */
  get hasApplicationCursorKeys(): boolean {
    return this.#made?.terminal.modes.applicationCursorKeysMode ?? false;
  }

  /** Copies the bytes. When the source should pause, returns a promise, which never rejects. */
  feed(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#isDisposed || bytes.length === 0) return undefined;
    this.#pending.push(Buffer.from(bytes));
    const drained = this.#unparsed.add(bytes.length);
    this.#schedule();
    return drained;
  }

  /** Resolves when everything fed so far has been parsed, without waiting for the next frame. */
  async parsed(): Promise<void> {
    if (this.#isDisposed || this.#unparsed.bytes === 0) return;
    await new Promise<void>((resolve) => {
      this.#waiters.push(resolve);
      if (!this.#isParsing) this.#parse();
    });
  }

  /** The screen at the last frame. */
  snapshot(): Snapshot {
    return (this.#snapshot ??= this.#read());
  }

  resize(columns: number, rows: number): void {
    if (this.#isDisposed) return;
    this.#emulator.terminal.resize(columns, rows);
    this.#snapshot = undefined;
    this.#frame.fire();
  }

  /** Calls `read` when no batch is half parsed: the next `onBatch` continues the state that `read` sees. */
  whenStill(read: () => void): void {
    if (this.#isDisposed) return;
    if (this.#isParsing) this.#whenStill.push(read);
    else read();
  }

  /** The bytes that bring a fresh terminal of this size to this screen, with up to `scrollback` lines above it. */
  state(scrollback: number): string {
    return this.#emulator.serializer.state(scrollback);
  }

  /** The bytes that draw this screen into a terminal of any size. */
  picture(size: { readonly columns: number; readonly rows: number }): string {
    return this.#emulator.serializer.picture(size);
  }

  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#pending = [];
    this.#whenStill = [];
    this.#loading.dispose();
    this.#timer?.dispose();
    this.#unfinished?.dispose();
    this.#made?.dispose();
    this.#owned.dispose();
    this.#unparsed.release();
    this.#release();
  }

  /** Created when there is something to show, or shortly after the start. */
  get #emulator(): Emulator {
    return (this.#made ??= openEmulator(this.#options));
  }

  #schedule(): void {
    if (this.#isParsing || this.#pending.length === 0) return;
    // A paused source must not wait for the next frame.
    const isUrgent = this.#unparsed.isFull;
    if (this.#timer && !isUrgent) return;
    this.#timer?.dispose();
    const waitMs = isUrgent ? 0 : Math.max(0, this.#nextFrameMs - this.#clock.monotonicMs());
    this.#timer = this.#clock.after(waitMs, () => this.#parse());
  }

  #parse(): void {
    this.#timer?.dispose();
    this.#timer = undefined;
    this.#nextFrameMs = this.#clock.monotonicMs() + FRAME_MS;
    const fed = Buffer.concat([this.#incomplete, ...this.#pending.splice(0)]);
    const end = this.#waiters.length > 0 ? fed.length : endOfSequences(fed);
    this.#incomplete = Buffer.from(fed.subarray(end));
    this.#isParsing = true;
    const batch = fed.subarray(0, end);
    this.#batch.fire(batch);
    if (!this.#isDisposed) this.#parseSlices(batch, 0);
  }

  /** Parses in slices with fewer lines than the scrollback holds, so that every line is reported before it is trimmed. */
  #parseSlices(batch: Buffer, from: number): void {
    const end = endOfLines(batch.subarray(0, from + SLICE_BYTES), from, this.#maxSliceLines);
    this.#emulator.terminal.write(batch.subarray(from, end), () => {
      if (this.#isDisposed) return;
      this.#reportScrolledOff();
      this.#unparsed.remove(end - from);
      if (end < batch.length) this.#parseSlices(batch, end);
      else this.#endFrame();
    });
  }

  #reportScrolledOff(): void {
    if (!this.#scrolledOff.hasListeners) return;
    const scrolled = this.#emulator.takeScrolled();
    if (scrolled !== undefined) this.#scrolledOff.fire(scrolled);
  }

  #endFrame(): void {
    this.#isParsing = false;
    for (const read of this.#whenStill.splice(0)) read();
    // During a synchronized update (mode 2026) the screen is not complete.
    if (this.#emulator.terminal.modes.synchronizedOutputMode && this.#waiters.length === 0) this.#showLater();
    else this.#show();
    if (this.#pending.length === 0) this.#release();
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
    // For a program that printed nothing there is no emulator.
    const terminal = this.#made?.terminal;
    const active = terminal?.buffer.active;
    const found = Array.from({ length: terminal?.rows ?? rows }, (_, row) =>
      active?.getLine(active.baseY + row),
    );
    const lines = found.map((line) => line?.translateToString(true) ?? '');
    return {
      columns: terminal?.cols ?? columns,
      rows: lines.length,
      lines,
      wrapped: [...found.keys()].filter((row) => found[row]?.isWrapped === true),
      cursor: { column: active?.cursorX ?? 0, row: active?.cursorY ?? 0 },
      text: () => lines.join('\n').trimEnd(),
    };
  }
}

/** The length of `bytes` without an incomplete escape sequence at their end. */
function endOfSequences(bytes: Buffer): number {
  const tail = bytes.subarray(-MAX_INCOMPLETE_BYTES).toString('latin1');
  return bytes.length - (unfinished.exec(tail)?.[0].length ?? 0);
}

/** The index after the `count`th newline from `from`, or the end. */
function endOfLines(bytes: Buffer, from: number, count: number): number {
  let at = from;
  for (let line = 0; line < count; line++) {
    const newline = bytes.indexOf(0x0a, at);
    if (newline === -1) return bytes.length;
    at = newline + 1;
  }
  return at;
}
