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
  #queue: Buffer[] = [];
  #pendingBytes = 0;
  #scheduled: Disposable | undefined;
  #disposed = false;

  constructor(options: { fd: number; clock: Clock }) {
    this.#fd = options.fd;
    this.#clock = options.clock;
  }

  /** False, and nothing is taken, when the terminal is gone or too much input lies unread. */
  write(data: string | Uint8Array): boolean {
    const bytes = typeof data === 'string' ? Buffer.from(data) : Buffer.from(data);
    if (this.#disposed || this.#pendingBytes + bytes.length > MAX_PENDING_BYTES) return false;
    if (bytes.length === 0) return true;
    this.#queue.push(bytes);
    this.#pendingBytes += bytes.length;
    if (!this.#scheduled) this.#pump();
    return true;
  }

  /** Must be called before the descriptor is closed. */
  dispose(): void {
    this.#disposed = true;
    this.#queue = [];
    this.#pendingBytes = 0;
    this.#scheduled?.dispose();
  }

  #pump(): void {
    this.#scheduled = undefined;
    for (let piece = 0; piece < PIECES_A_TURN; piece++) {
      const head = this.#queue[0];
      if (!head) return;
      const written = this.#writePiece(head);
      if (written === 'gone') return this.dispose();
      if (written === 0) return this.#schedule(RETRY_MS);
      this.#pendingBytes -= written;
      if (written === head.length) this.#queue.shift();
      else this.#queue[0] = head.subarray(written);
    }
    this.#schedule(0);
  }

  #schedule(delayMs: number): void {
    if (this.#queue.length > 0) this.#scheduled = this.#clock.after(delayMs, () => this.#pump());
  }

  #writePiece(head: Buffer): number | 'gone' {
    try {
      return writeSync(this.#fd, head, 0, Math.min(head.length, PIECE_BYTES));
    } catch (thrown) {
      const code = systemCodeOf(thrown);
      // EIO, EBADF, …: the other side is closed, so nobody is left to read.
      return code === 'EAGAIN' || code === 'EINTR' ? 0 : 'gone';
    }
  }
}
