// Pure.
import { Emitter, type Event } from '../base/lifecycle.js';
import { ignoreBridgeError } from '../base/errors.js';
import type { Child, TerminalSize, WriteResult } from '../pty/child.js';
import { SafeOutput } from '../screen/safe-output.js';
import type { Screen } from '../screen/screen.js';

/** All screens of the CLI were recorded at this size. */
export const SIZE = { columns: 120, rows: 40 };
export const SCROLLBACK_LINES = 2_000;

/** The terminal of a session, for people who watch it and type into it. */
export class SessionTerminal {
  readonly #child: Pick<Child, 'write' | 'resize'>;
  readonly #screen: Screen;
  readonly #output = new Emitter<Buffer>();
  /** The part of the program's output that is safe for a second terminal, frame by frame. */
  readonly onOutput: Event<Buffer> = this.#output.event;
  #size: TerminalSize;

  constructor(child: Pick<Child, 'write' | 'resize'>, screen: Screen, size: TerminalSize) {
    this.#child = child;
    this.#screen = screen;
    this.#size = size;
    let safe: SafeOutput | undefined;
    // The screen is disposed with its session, and its events with it.
    screen.onBatch((bytes) => {
      // The next watcher must not get the rest of a sequence whose beginning it did not see.
      if (!this.#output.hasListeners) safe = undefined;
      else this.#output.fire(Buffer.from((safe ??= new SafeOutput()).filter(bytes)));
    });
  }

  get size(): TerminalSize {
    return this.#size;
  }

  /** Fires after the screen may have changed. */
  get onFrame(): Event<void> {
    return this.#screen.onFrame;
  }

  /** Calls `read` when no batch is half parsed: `onOutput` then continues exactly where `state` ends. */
  whenStill(read: () => void): void {
    this.#screen.whenStill(read);
  }

  /**
   * The bytes that bring a fresh terminal of the same size to this state, with up to `scrollback` lines above the screen, without the
   * modes that a second terminal must not have.
   */
  state(scrollback: number): string {
    return new SafeOutput().filter(Buffer.from(this.#screen.state(scrollback)));
  }

  /** Like `state`, but with every mode: for a recording, where queries have no effect. */
  recordedState(): string {
    return this.#screen.state(0);
  }

  /** The bytes that draw the screen into a terminal of any size. */
  picture(size: TerminalSize): string {
    return this.#screen.picture(size);
  }

  write(data: string | Uint8Array): WriteResult {
    return this.#child.write(data);
  }

  resize(size: TerminalSize): void {
    this.#size = size;
    // An engine that does not answer keeps the old size; the session goes on.
    this.#child.resize(size).catch(ignoreBridgeError);
    this.#screen.resize(size.columns, size.rows);
  }
}
