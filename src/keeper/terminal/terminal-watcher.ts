// Pure.
import type { Clock } from '../../base/clock.js';
import { DisposableStore, type Disposable } from '../../base/lifecycle.js';
import type { SessionTerminal } from '../../claude/session-terminal.js';
import type { TerminalPush, TerminalView } from '../wire/messages.js';

/** A picture twenty times a second looks alive, and costs a watcher at most 20 screens a second. */
const PICTURE_INTERVAL_MS = 50;
/** Unread output that is buffered for a watcher. Beyond it output is skipped, and the watcher gets the whole screen once it has read. */
export const MAX_UNREAD_OUTPUT_BYTES = 512 * 1024;

/** The connection to a watcher. */
export interface WatcherLine {
  send(push: TerminalPush): void;
  /** Bytes that were sent and not read yet. */
  readonly unreadBytes: number;
}

/**
 * One watcher of a terminal. While its own terminal has the session's size, it gets the state once and then the output. Otherwise, and
 * while something covers its last row, it gets pictures of the screen. It never delays the session.
 */
export class TerminalWatcher implements Disposable {
  readonly #terminal: SessionTerminal;
  readonly #line: WatcherLine;
  readonly #clock: Clock;
  readonly #owned = new DisposableStore();
  #view: TerminalView;
  #mode: 'stream' | 'pictures' | 'behind' = 'behind';
  #nextPicture: Disposable | undefined;

  constructor(terminal: SessionTerminal, view: TerminalView, line: WatcherLine, clock: Clock) {
    this.#terminal = terminal;
    this.#view = view;
    this.#line = line;
    this.#clock = clock;
    this.#owned.add(terminal.onOutput((bytes) => this.#onOutput(bytes)));
    this.#owned.add(terminal.onFrame(() => (this.#mode === 'pictures' ? this.#pictureSoon() : undefined)));
  }

  get view(): TerminalView {
    return this.#view;
  }

  setView(view: TerminalView): void {
    this.#view = view;
  }

  /** Shows everything again, after a change of view or size, or after output was skipped. */
  show(): void {
    if (this.#owned.isDisposed) return;
    this.#nextPicture?.dispose();
    this.#nextPicture = undefined;
    const { columns, rows, covered } = this.#view;
    const { size } = this.#terminal;
    if (covered || size.columns !== columns || size.rows !== rows) {
      this.#mode = 'pictures';
      this.#terminal.whenStill(() => {
        if (!this.#owned.isDisposed && this.#mode === 'pictures') this.#sendPicture();
      });
      return;
    }
    // Output that comes before the state is part of it.
    this.#mode = 'behind';
    this.#terminal.whenStill(() => {
      if (this.#owned.isDisposed || this.#mode !== 'behind') return;
      this.#mode = 'stream';
      this.#send('state', Buffer.from(this.#terminal.state(this.#view.scrollback)));
      // The watcher now has those lines above its screen.
      this.#view = { ...this.#view, scrollback: 0 };
    });
  }

  /** All that was sent has been read. */
  caughtUp(): void {
    if (this.#mode === 'behind') this.show();
    else if (this.#mode === 'pictures') this.#pictureSoon();
  }

  /** The session has ended: sends the last screen. */
  finish(): void {
    if (this.#mode === 'pictures') this.#sendPicture();
  }

  dispose(): void {
    this.#nextPicture?.dispose();
    this.#owned.dispose();
  }

  #onOutput(bytes: Buffer): void {
    if (this.#mode !== 'stream' || bytes.length === 0) return;
    if (this.#line.unreadBytes > MAX_UNREAD_OUTPUT_BYTES) this.#mode = 'behind';
    else this.#send('output', bytes);
  }

  #pictureSoon(): void {
    this.#nextPicture ??= this.#clock.after(PICTURE_INTERVAL_MS, () => {
      this.#nextPicture = undefined;
      // A watcher that has not read the last picture gets the next one in `caughtUp`.
      if (this.#line.unreadBytes === 0) this.#sendPicture();
    });
  }

  #sendPicture(): void {
    const { columns, rows, covered } = this.#view;
    const free = covered ? Math.max(1, rows - 1) : rows;
    this.#send('picture', Buffer.from(this.#terminal.picture({ columns, rows: free })));
  }

  #send(kind: TerminalPush['kind'], bytes: Buffer): void {
    this.#line.send({ push: 'terminal', kind, data: bytes.toString('base64') });
  }
}
