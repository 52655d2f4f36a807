import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/lifecycle.js';
import { Screen } from '../screen/screen.js';
import type { Snapshot } from '../screen/snapshot.js';
import type { TerminalSize } from './process-handle.js';

const ESC = 0x1b;
const NEWLINE = 0x0a;
/** Output without escape sequences is kept up to this: more than any screen shows of it. */
const MAX_PLAIN_BYTES = 64 * 1024;
/** A prompt, or the greeting of a shell; more is taken with the first that does not fit. */
const FIRST_PLAIN_BYTES = 512;
const SCROLLBACK_LINES = 100;

export interface ScreenText {
  /** One line a row, without blank ones at the end. */
  readonly text: string;
  /** From 0, column and row. */
  readonly cursor: { readonly column: number; readonly row: number };
  readonly size: TerminalSize;
}

const NOTHING = Buffer.alloc(0);

/**
 * What a terminal shows. The emulator, which is large, is made when it is needed: when somebody looks, or with the first
 * escape sequence, since only that can ask the terminal something. A shell that waits costs a few bytes.
 */
export class ProcessScreen implements Disposable {
  readonly #clock: Clock;
  readonly #reply: (bytes: Uint8Array) => void;
  #size: TerminalSize;
  #plain = NOTHING;
  #plainBytes = 0;
  #screen: Screen | undefined;
  #isDisposed = false;

  constructor({
    size,
    clock,
    reply,
  }: {
    size: TerminalSize;
    clock: Clock;
    reply: (bytes: Uint8Array) => void;
  }) {
    this.#size = size;
    this.#clock = clock;
    this.#reply = reply;
  }

  /** The bytes are copied. */
  feed(bytes: Uint8Array): void {
    if (this.#isDisposed) return;
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    if (this.#screen !== undefined) {
      this.#screen.feed(piece);
      return;
    }
    this.#keep(piece);
    if (piece.includes(ESC)) this.#emulator();
  }

  resize(size: TerminalSize): void {
    this.#size = size;
    this.#screen?.resize(size.columns, size.rows);
  }

  /** Cursor keys are to be sent in their other form (DECCKM). */
  get hasApplicationCursorKeys(): boolean {
    return this.#screen?.hasApplicationCursorKeys ?? false;
  }

  /** What is shown when everything fed so far has been drawn. */
  async show(): Promise<ScreenText> {
    const screen = this.#emulator();
    await screen.settled();
    return textOf(screen.snapshot(), this.#size);
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#screen?.dispose();
    this.#plain = NOTHING;
  }

  #emulator(): Screen {
    if (this.#screen !== undefined) return this.#screen;
    const screen = new Screen({
      ...this.#size,
      scrollback: SCROLLBACK_LINES,
      clock: this.#clock,
      reply: (text) => this.#reply(Buffer.from(text, 'latin1')),
    });
    if (this.#plainBytes > 0) screen.feed(this.#seen(this.#plain.subarray(0, this.#plainBytes)));
    this.#plain = NOTHING;
    this.#screen = screen;
    return screen;
  }

  /** The last lines that the screen and what lies above it can hold: parsing more of a flood would hold up its end. */
  #seen(plain: Buffer): Buffer {
    const escape = plain.indexOf(ESC);
    let at = escape === -1 ? plain.length : escape;
    for (let line = 0; line <= this.#size.rows + SCROLLBACK_LINES; line++) {
      if (at <= 0) return plain;
      at = plain.lastIndexOf(NEWLINE, at - 1);
    }
    return plain.subarray(at + 1);
  }

  /** Copies the piece behind what is kept; of a flood the end, into the same memory again and again. */
  #keep(piece: Buffer): void {
    const longest = 2 * MAX_PLAIN_BYTES;
    if (this.#plainBytes + piece.length > longest) {
      const kept = Math.max(0, MAX_PLAIN_BYTES - piece.length);
      this.#plain.copyWithin(0, this.#plainBytes - kept, this.#plainBytes);
      this.#plainBytes = kept;
    }
    const added = piece.subarray(-Math.min(piece.length, MAX_PLAIN_BYTES, longest - this.#plainBytes));
    const needed = this.#plainBytes + added.length;
    if (needed > this.#plain.length) {
      const wider = Buffer.allocUnsafeSlow(
        Math.min(longest, Math.max(FIRST_PLAIN_BYTES, 2 * this.#plain.length, needed)),
      );
      this.#plain.copy(wider, 0, 0, this.#plainBytes);
      this.#plain = wider;
    }
    this.#plainBytes += added.copy(this.#plain, this.#plainBytes);
  }
}

function textOf(snapshot: Snapshot, size: TerminalSize): ScreenText {
  return { text: snapshot.text(), cursor: snapshot.cursor, size };
}
