import { writeSync } from 'node:fs';
import type { Clock } from '../base/clock.js';
import { systemCodeOf } from '../base/errors.js';
import type { Disposable } from '../base/lifecycle.js';

/** A terminal takes about 4 KB of unread input (macOS 1 KB); small pieces keep one write from running into the end of it. */
const PIECE_BYTES = 512;
/** How many pieces go out before the event loop has its turn. */
const PIECES_A_TURN = 16;
/** The wait when the program has not read what it was given. */
const RETRY_MS = 5;
/** Unread input is not kept beyond this: a program that never reads must not fill the memory. */
const MAX_PENDING_BYTES = 4 * 1024 * 1024;

/**
 * Writes to the controlling side of a terminal in order, without ever blocking. node-pty's own write does block: libuv
 * treats that descriptor as one for blocking writes and spins on EAGAIN until the program reads, the whole process with it.
 */
export class InputQueue implements Disposable {
  readonly #fd: number;
  readonly #clock: Clock;
  #pending: Uint8Array = Buffer.alloc(0);
  #scheduled: Disposable | undefined;
  #disposed = false;

  constructor(options: { fd: number; clock: Clock }) {
    this.#fd = options.fd;
    this.#clock = options.clock;
  }

  /** False, and nothing is taken, when the terminal is gone or too much input lies unread. */
  write(data: string | Uint8Array): boolean {
    const bytes = Buffer.from(data);
    if (this.#disposed || this.#pending.length + bytes.length > MAX_PENDING_BYTES) return false;
    this.#pending = Buffer.concat([this.#pending, bytes]);
    if (this.#scheduled === undefined) this.#pump();
    return true;
  }

  /** Must be called before the descriptor is closed. */
  dispose(): void {
    this.#disposed = true;
    this.#pending = Buffer.alloc(0);
    this.#scheduled?.dispose();
  }

  #pump(): void {
    this.#scheduled = undefined;
    let written = 0;
    for (let piece = 0; piece < PIECES_A_TURN && this.#pending.length > 0; piece++) {
      written = this.#writePiece();
      this.#pending = this.#pending.subarray(written);
      if (written === 0) break;
    }
    if (this.#pending.length === 0) return;
    this.#scheduled = this.#clock.after(written === 0 ? RETRY_MS : 0, () => this.#pump());
  }

  /** How many bytes the terminal took. */
  #writePiece(): number {
    try {
      return writeSync(this.#fd, this.#pending, 0, Math.min(this.#pending.length, PIECE_BYTES));
    } catch (thrown) {
      const code = systemCodeOf(thrown);
      // EIO, EBADF, …: the other side is closed, and nothing reads it any more.
      if (code !== 'EAGAIN' && code !== 'EINTR') this.dispose();
      return 0;
    }
  }
}
