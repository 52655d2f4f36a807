import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/lifecycle.js';
import { Screen } from '../screen/screen.js';
import type { TerminalSize } from '../pty/child.js';

const SCROLLBACK_LINES = 100;

export interface ScreenText {
  /** One line a row, without blank ones at the end. */
  readonly text: string;
  /** From 0, column and row. */
  readonly cursor: { readonly column: number; readonly row: number };
  readonly size: TerminalSize;
}

/** What a terminal shows. */
export class ProcessScreen implements Disposable {
  readonly #screen: Screen;
  #size: TerminalSize;

  constructor(options: {
    readonly size: TerminalSize;
    readonly clock: Clock;
    readonly reply: (bytes: Uint8Array) => void;
  }) {
    const { size, clock, reply } = options;
    this.#size = size;
    this.#screen = new Screen({
      ...size,
      scrollback: SCROLLBACK_LINES,
      clock,
      reply: (text) => reply(Buffer.from(text, 'latin1')),
    });
  }

  /** Copies the bytes. Returns a promise, which never rejects, when the source should wait for it. */
  feed(bytes: Uint8Array): Promise<void> | undefined {
    return this.#screen.feed(bytes);
  }

  resize(size: TerminalSize): void {
    this.#size = size;
    this.#screen.resize(size.columns, size.rows);
  }

  /** Cursor keys are to be sent in their other form (DECCKM). */
  get hasApplicationCursorKeys(): boolean {
    return this.#screen.hasApplicationCursorKeys;
  }

  /** What is shown when everything fed so far has been drawn. */
  async show(): Promise<ScreenText> {
    await this.#screen.parsed();
    const snapshot = this.#screen.snapshot();
    return { text: snapshot.text(), cursor: snapshot.cursor, size: this.#size };
  }

  dispose(): void {
    this.#screen.dispose();
  }
}
